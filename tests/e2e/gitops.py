"""Rules that Argo CD shows: it has delivered the good tree, and gets a bad one."""

from __future__ import annotations

import json
import os.path
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from tests.e2e.access import may
from tests.e2e.stage import CLUSTER, Stage, bad
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.render.unit import UNLISTED
from trainyard.workflows.generate import component_manifests, emit_site
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.checks.acceptance import in_order
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery, Tree
from trainyard_rehearsal.checks.jobs import as_user
from trainyard_rehearsal.control_plane.api import Body

_COMPONENTS = "../profiles/components"
_APPLICATION = f"{CLUSTER}-team-nlp"
_WATCHED = (f"{CLUSTER}-argocd", _APPLICATION)
"""The team's Application, and the one that brings its AppProject."""
_JOBS = "trainjobs.trainer.kubeflow.org"


@dataclass(slots=True)
class Git:
    """The repository that Argo CD takes the tree from.

    Args:
        site: of the good tree.
        files: what is published now.
        published: as what.
    """

    stage: Stage
    site: Site
    delivery: GitDelivery
    files: Mapping[str, bytes]
    published: Commit

    def commit(self, changes: Mapping[str, Any]) -> Commit:
        """Publish the tree of the base after some changes, and have Argo CD look."""
        return self.publish(files_of(self.stage.moved(changes)))

    def publish(self, files: Mapping[str, bytes]) -> Commit:
        """Publish a tree, and have Argo CD look."""
        if files != self.files:
            gone: dict[str, bytes | None] = dict.fromkeys(self.files.keys() - files.keys())
            self.published, self.files = (
                self._concerning(self.delivery.repository.commit({**gone, **files})),
                files,
            )
            self.look()
        return self.published

    def begin(self) -> Commit:
        """Publish the good tree for the first time."""
        self.published = self._concerning(self.delivery.repository.commit(self.files))
        return self.published

    def look(self, how: str = "normal") -> None:
        """Have Argo CD look at Git."""
        self.delivery.refresh(_WATCHED, how)

    def _concerning(self, revision: str) -> Commit:
        return Commit(revision, [_APPLICATION])

    def folder(self, component: str) -> str:
        """Return a component's folder in the repository."""
        return f"{_components(self.site)}/{component}"

    @property
    def status(self) -> str:
        """All that the team's Application says of itself."""
        return json.dumps(self.delivery.application(_APPLICATION).get("status"), ensure_ascii=False)

    def says(self, *words: str) -> bool:
        """Tell whether Argo CD says something of the team's unit."""
        assert self.until(lambda: all(each in self.status for each in words)), self.status
        return True

    def until(self, ready: Callable[[], bool]) -> bool:
        """Wait for something; Argo CD is asked again while it has looked at something older than
        what is published."""

        def looked() -> bool:
            status = self.delivery.application(_APPLICATION).get("status") or {}
            if status.get("sync", {}).get("revision") != self.published.revision:
                self.delivery.remind(_WATCHED)
            return ready()

        return self.delivery.waited(looked)

    def is_there(self, kind: str, name: str) -> bool:
        """Tell whether the team has an object."""
        return not self.stage.is_gone("v1", kind, "team-nlp", name)


@contextmanager
def delivered(stage: Stage) -> Iterator[Git]:
    """Have Argo CD deliver the good tree, also after whatever a scenario does to it."""
    site = stage.moved({})
    files, manifests = files_of(site), synced(site)
    assert stage.argocd
    delivery = GitDelivery(
        stage.lab, stage.argocd, stage.repository, Tree(site, files, manifests, ())
    )
    git = Git(stage, site, delivery, files, Commit("", ()))
    if not stage.standing:
        # What stands already it takes over, which is faster than its waves.
        stage.stand({})
        commit = git.begin()
        for manifest in in_order(each for each in manifests if each.unit == "argocd"):
            stage.api.apply(manifest.body, manager="kubectl")
        assert not (failures := delivery.settled(commit, 240)), failures
    try:
        yield git
    finally:
        git.publish(files)
        git.look("hard")
        assert not (failures := delivery.settled(git.published)), failures


def synced(site: Site) -> list[Manifest]:
    own = (manifest for manifest in render_site(site) if manifest.unit not in UNLISTED)
    return [*own, *component_manifests(site)]


def files_of(site: Site) -> dict[str, bytes]:
    """Return a tree by path in the repository, with the hand-written components."""
    emitted = emit_site(site, render_site(site), _COMPONENTS)
    files = {site.folder(path): content for path, content in emitted.items()}
    for tenant in site.tenants:
        for component in tenant.components:
            folder = f"{_components(site)}/{component.name}"
            files[f"{folder}/kustomization.yaml"] = emit(_component(*component.objects))
            files |= {
                f"{folder}/{name}": _list(bodies) for name, bodies in component.objects.items()
            }
    return files


def _components(site: Site) -> str:
    return os.path.normpath(f"{site.cluster.settings.path}/{_COMPONENTS}")


def _component(*resources: str) -> Body:
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": list(resources),
    }


def _list(bodies: tuple[Body, ...]) -> bytes:
    return b"---\n".join(map(emit, bodies))


def _config_map(name: str, namespace: str = "team-nlp") -> Body:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
    }


def _brings(*bodies: Body) -> dict[str, Any]:
    """Return the changes that give team nlp a component with some objects."""
    files = {f"{i}.yaml": body for i, body in enumerate(bodies)}
    changes: dict[str, Any] = {"components/solver/kustomization.yaml": _component(*files)}
    changes |= {f"components/solver/{name}": body for name, body in files.items()}
    return {**changes, "teams/nlp.yaml": {"components": ["solver"]}}


def open_egress(stage: Stage) -> None:
    """The API server drops an empty list of destinations, Argo CD shows no drift, and no list means
    everywhere."""
    changes = bad("isolation/open-egress")
    policies = [
        each for each in render_site(stage.moved(changes)) if each.body["kind"] == "NetworkPolicy"
    ]
    name = next(
        each.name for each in policies if each.namespace == "team-nlp" and "unfinished" in each.name
    )
    with delivered(stage) as git:
        assert not git.delivery.settled(git.commit(changes))
        (way,) = stage.api.get("networking.k8s.io/v1", "NetworkPolicy", name, "team-nlp")["spec"][
            "egress"
        ]
        assert way["ports"]
        assert "to" not in way


def secret_in_git(stage: Stage) -> None:
    """What a component's ConfigMap holds, every viewer of the team reads."""
    held = {**_config_map("held"), "data": {"password": "never-a-real-one"}}
    with delivered(stage) as git:
        assert not git.delivery.settled(git.commit(_brings(held)))
        (space,) = next(each for each in git.site.tenants if each.name == "nlp").spaces
        viewer = as_user(stage.api, space, "viewer")
        assert viewer.get("v1", "ConfigMap", "held", "team-nlp")["data"] == held["data"]


@cache
def component_in_foreign_namespace(stage: Stage) -> None:
    """Argo CD refuses the unit, and what is right in it is not applied either."""
    with delivered(stage) as git:
        git.commit(_brings(_config_map("right"), _config_map("solver", "team-vision")))
        assert git.says(f"namespace team-vision is not permitted in project '{_APPLICATION}'")
        assert not git.is_there("ConfigMap", "right")


namespace_not_permitted = component_in_foreign_namespace


def kind_not_permitted(stage: Stage) -> None:
    """Argo CD refuses the unit, and what is right in it is not applied either."""
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "roleRef": role,
    }
    with delivered(stage) as git:
        git.commit(_brings(_config_map("right"), {**binding, "metadata": {"name": "everywhere"}}))
        assert git.says(
            "resource rbac.authorization.k8s.io:ClusterRoleBinding is not permitted in project "
            f"{_APPLICATION}"
        )
        assert not git.is_there("ConfigMap", "right")


def component_of_forbidden_kind(stage: Stage) -> None:
    """One more role binding opens what the team's own close; what is cluster-wide stops the
    unit."""
    with delivered(stage) as git:
        manifest = next(
            each
            for each in git.delivery.tree.manifests
            if each.path == "teams/nlp/rolebinding-user.yaml"
        )
        subjects = [{"kind": "Group", "name": "strangers", "apiGroup": "rbac.authorization.k8s.io"}]
        more = {
            **manifest.body,
            "metadata": {"name": "more", "namespace": "team-nlp"},
            "subjects": subjects,
        }
        assert not may(stage, ["strangers"], f"create {_JOBS}", "team-nlp")
        git.commit(_brings(more))
        assert git.until(lambda: may(stage, ["strangers"], f"create {_JOBS}", "team-nlp")), (
            git.status
        )
        git.commit(
            _brings({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "another"}})
        )
        assert git.says(f"resource :Namespace is not permitted in project {_APPLICATION}")


def foreign_metadata_key(stage: Stage) -> None:
    """An object that must be confirmed to go holds the unit: nothing newer is applied."""
    kept, newer = _config_map("kept"), _config_map("newer")
    held = bad("delivery/foreign-metadata-key")["components/solver/solver.yaml"]
    held["metadata"].pop("finalizers")  # It would hold the object itself.
    with delivered(stage) as git:
        assert not git.delivery.settled(git.commit(_brings(kept, held)))
        git.commit(_brings(kept))
        assert git.says("waiting for pruning confirmation of /ConfigMap/solver")
        commit = git.commit(_brings(kept, newer))
        assert git.until(lambda: _compared(git) == (commit.revision, "OutOfSync", "Running")), (
            git.status
        )
        assert not git.is_there("ConfigMap", "newer")
        _approve(git)


def name_of_a_controller(stage: Stage) -> None:
    """Admission refuses the object, and the unit stays as it was."""
    with delivered(stage) as git:
        git.commit(_brings(_config_map("nightly-runtime-snapshot")))
        assert git.says("nightly-runtime-snapshot", "are Trainer's alone")
        assert not git.is_there("ConfigMap", "nightly-runtime-snapshot")


def _compared(git: Git) -> tuple[str, str, str]:
    """Return which revision was looked at, how the cluster compares, and what the operation
    does."""
    status = git.delivery.application(_APPLICATION)["status"]
    return (
        status["sync"].get("revision", ""),
        status["sync"]["status"],
        status["operationState"]["phase"],
    )


def _approve(git: Git) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = git.delivery.application(_APPLICATION)
    git.stage.api.patch(
        body, {"metadata": {"annotations": {"argocd.argoproj.io/deletion-approved": now}}}
    )


def broken_component(stage: Stage) -> None:
    """Argo CD can't build the unit."""
    with delivered(stage) as git:
        files = files_of(stage.moved(_brings(_config_map("right"))))
        del files[f"{git.folder('solver')}/0.yaml"]
        _mended(git, files, "no such file or directory")


def unit_does_not_build(stage: Stage) -> None:
    """Argo CD can't build the unit."""
    with delivered(stage) as git:
        quota = next(
            each.body
            for each in git.delivery.tree.manifests
            if each.path.startswith("teams/nlp/limitrange")
        )
        files = files_of(stage.moved(_brings(quota)))
        _mended(git, files, "may not add resource with an already registered id")


def _mended(git: Git, files: Mapping[str, bytes], words: str) -> None:
    """Look at the error of a unit that does not build, and whether it goes with its cause."""
    git.publish(files)
    assert git.says("ComparisonError", words)

    def looked_again() -> bool:
        if git.delivery.is_refreshed():
            git.look()
        return "Manifest generation error (cached)" in git.status

    assert git.until(looked_again), git.status
    assert not git.delivery.settled(git.commit({}))


def unserved_version(stage: Stage) -> None:
    """Argo CD stops the unit."""
    changes = bad("release/unserved-version")
    with delivered(stage) as git:
        git.commit(changes)
        assert git.says(
            "failed to discover server resources for group version external-secrets.io/v1beta1"
        )


def unlisted_component(stage: Stage) -> None:
    """Argo CD is done, and nothing of the component is there."""
    changes = _brings(_config_map("unlisted"))
    with delivered(stage) as git:
        brought = files_of(stage.moved(changes))
        component = {
            path: content
            for path, content in brought.items()
            if path.startswith(git.folder("solver"))
        }
        assert component
        assert not git.delivery.settled(git.publish({**git.delivery.tree.files, **component}))
        assert not git.is_there("ConfigMap", "unlisted")


def tree_is_stale(stage: Stage) -> None:
    """What somebody wrote into the tree by hand is on the cluster, whatever the profiles say."""
    with delivered(stage) as git:
        manifest = next(
            each
            for each in git.delivery.tree.manifests
            if each.path.startswith("teams/nlp/limitrange")
        )
        metadata = {
            **manifest.body["metadata"],
            "annotations": {"ml.example.com/written": "by-hand"},
        }
        written = {git.delivery.path(manifest): emit({**manifest.body, "metadata": metadata})}
        assert not git.delivery.settled(git.publish({**git.delivery.tree.files, **written}))
        stands = stage.api.get("v1", "LimitRange", manifest.name, "team-nlp")
        assert stands["metadata"]["annotations"]["ml.example.com/written"] == "by-hand"


def foreign_file(stage: Stage) -> None:
    """Argo CD is done, and nothing of the file is there."""
    with delivered(stage) as git:
        manifest = next(
            each
            for each in git.delivery.tree.manifests
            if each.path.startswith("teams/nlp/limitrange")
        )
        folder, _, _ = git.delivery.path(manifest).rpartition("/")
        file = {f"{folder}/configmap-foreign.yaml": emit(_config_map("foreign"))}
        assert not git.delivery.settled(git.publish({**git.delivery.tree.files, **file}))
        assert not git.is_there("ConfigMap", "foreign")
