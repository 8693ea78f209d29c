"""The repository that Argo CD takes the tree from, with the good tree delivered."""

from __future__ import annotations

import json
import os.path
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.e2e.setup import CLUSTER
from tests.e2e.stage import Stage
from trainyard.generation.emission import emit_site
from trainyard.generation.objects import component_manifests
from trainyard.model.manifest import UNLISTED, Manifest
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery, Tree
from trainyard_rehearsal.control_plane.api import Body

_COMPONENTS = "../profiles/components"
APPLICATION = f"{CLUSTER}-team-nlp"
_WATCHED = (f"{CLUSTER}-argocd", APPLICATION)
"""The team's Application, and the one that brings its AppProject."""


@dataclass(slots=True)
class Git:
    """The repository from which Argo CD takes the tree.

    Args:
        site: of the good tree.
        files: the published tree, by path.
        published: the commit of that tree.
    """

    stage: Stage
    site: Site
    delivery: GitDelivery
    files: Mapping[str, bytes]
    published: Commit

    def commit(self, changes: Mapping[str, Any]) -> Commit:
        """Publish the tree of the changed base, and refresh Argo CD."""
        return self.publish(files_of(self.stage.moved(changes)))

    def publish(self, files: Mapping[str, bytes]) -> Commit:
        """Publish a tree, and refresh Argo CD."""
        if files != self.files:
            gone: dict[str, bytes | None] = dict.fromkeys(self.files.keys() - files.keys())
            revision = self.delivery.repository.commit({**gone, **files})
            self.published, self.files = self._concerning(revision), files
            self.look()
        return self.published

    def begin(self) -> Commit:
        """Publish the good tree for the first time."""
        self.published = self._concerning(self.delivery.repository.commit(self.files))
        return self.published

    def look(self, how: str = "normal") -> None:
        """Refresh Argo CD's view of Git."""
        self.delivery.refresh(_WATCHED, how)

    def _concerning(self, revision: str) -> Commit:
        return Commit(revision, [APPLICATION])

    def folder(self, component: str) -> str:
        """Return a component's folder in the repository."""
        return f"{_components(self.site)}/{component}"

    @property
    def status(self) -> str:
        """The status of the team's Application, as JSON."""
        return json.dumps(self.delivery.application(APPLICATION).get("status"), ensure_ascii=False)

    def shows(self, *words: str) -> bool:
        """Return whether the team's Application shows some words in its status."""
        assert self.until(lambda: all(each in self.status for each in words)), self.status
        return True

    def until(self, ready: Callable[[], bool]) -> bool:
        """Wait for a condition; remind Argo CD while it compares with an older revision."""

        def looked() -> bool:
            status = self.delivery.application(APPLICATION).get("status") or {}
            if status.get("sync", {}).get("revision") != self.published.revision:
                self.delivery.refresh_again(_WATCHED)
            return ready()

        return self.delivery.wait(looked)

    def is_there(self, kind: str, name: str) -> bool:
        """Return whether the team has an object."""
        return not self.stage.is_gone("v1", kind, "team-nlp", name)


@contextmanager
def delivered(stage: Stage) -> Iterator[Git]:
    """Deliver the good tree by Argo CD, before a scenario and again after it."""
    site = stage.moved({})
    files, manifests = files_of(site), synced(site)
    assert stage.argocd
    delivery = GitDelivery(
        stage.lab, stage.argocd, stage.repository, Tree(site, files, manifests, ())
    )
    git = Git(stage, site, delivery, files, Commit("", ()))
    if not stage.applied:
        # Argo CD takes over existing objects, which is faster than its sync waves.
        stage.deploy({})
        commit = git.begin()
        for manifest in in_sync_order(each for each in manifests if each.unit == "argocd"):
            stage.api.apply(manifest.body, manager="kubectl")
        assert not (failures := delivery.wait_until_synced(commit, 240)), failures
    try:
        yield git
    finally:
        git.publish(files)
        git.look("hard")
        assert not (failures := delivery.wait_until_synced(git.published)), failures


def synced(site: Site) -> list[Manifest]:
    """Return the objects that Argo CD applies."""
    own = (manifest for manifest in render_site(site) if manifest.unit not in UNLISTED)
    return [*own, *component_manifests(site)]


def files_of(site: Site) -> dict[str, bytes]:
    """Return a tree by path in the repository, with the hand-written components."""
    emitted = emit_site(site, render_site(site), _COMPONENTS)
    files = {site.folder(path): content for path, content in emitted.items()}
    for tenant in site.tenants:
        for component in tenant.components:
            folder = f"{_components(site)}/{component.name}"
            files[f"{folder}/kustomization.yaml"] = emit(component_file(*component.objects))
            for name, bodies in component.objects.items():
                files[f"{folder}/{name}"] = b"---\n".join(map(emit, bodies))
    return files


def _components(site: Site) -> str:
    return os.path.normpath(f"{site.cluster.settings.path}/{_COMPONENTS}")


def component_file(*resources: str) -> Body:
    """Return the kustomization of a component with some files."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": list(resources),
    }
