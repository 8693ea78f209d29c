"""Deliver a tree from Git through Argo CD, and wait for its Applications."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.applications import (
    REFRESH,
    describe,
    is_applied,
    is_idle,
    is_manual,
    is_refresh_pending,
    is_synced_and_healthy,
    revision_of,
)
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.argocd import ArgoCD
from trainyard_rehearsal.control_plane.fakes import write_statuses
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.progress_deadline import ProgressDeadline
from trainyard_rehearsal.control_plane.repository import Repository
from trainyard_rehearsal.outcome import Failure

_ARGO = "argoproj.io/v1alpha1"
_REFRESH_SET = "argocd.argoproj.io/application-set-refresh"
_PATIENCE = 1800.0
"""Seconds to wait for what takes less than a hundred: a busy machine may be slow.

A wait ends sooner when nothing changes."""
_STILL = 120.0
"""Seconds without a change after which a wait ends; Argo CD's actions show in less than ten."""
_PAUSE = 1.0
"""Seconds between two looks at Argo CD: each takes time of the machine that Argo CD runs on."""


Applications = Mapping[str, Body]
"""Applications by name; empty for one that does not exist yet."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The contents of the Git repository at one time.

    Args:
        site: the cluster that the tree is made for.
        files: of the repository, by path in it.
        manifests: objects that Argo CD applies.
        samples: jobs that users may copy.
    """

    site: Site
    files: Mapping[str, bytes]
    manifests: Sequence[Manifest]
    samples: Sequence[tuple[Sample, Manifest]]


class Commit(NamedTuple):
    """A published commit.

    Args:
        applications: names of the Applications whose folders it changes.
    """

    revision: str
    applications: Collection[str]


@dataclass(frozen=True, slots=True)
class GitDelivery:
    """A tree in Git, and the Argo CD that applies it."""

    lab: Lab
    argocd: ArgoCD
    repository: Repository
    tree: Tree

    @property
    def units(self) -> dict[str, str]:
        """The sync unit of each expected Application, by the Application's name."""
        site = self.lab.plan.site
        own = ("argocd", "platform", *(("nodes",) if site.cluster.has_node_unit else ()))
        teams = {tenant.application: f"teams/{tenant.name}" for tenant in site.tenants}
        return {site.part(unit): unit for unit in own} | teams

    def path(self, manifest: Manifest) -> str:
        """Return the file of an object in the repository."""
        return self.lab.plan.site.folder(manifest.path)

    def commit(self, files: Mapping[str, bytes | None]) -> Commit:
        """Publish files, and refresh the Applications whose folders they are in.

        Args:
            files: contents by path; nothing for a file to remove.
        """
        root = self.lab.plan.site.folder("")
        inside = [path.removeprefix(root) for path in files if path.startswith(root)]
        folders = {PurePosixPath(path).parent.as_posix() for path in inside}
        names = [name for name, unit in self.units.items() if unit in folders]
        commit = Commit(self.repository.commit(files), names)
        self.refresh(names)
        return commit

    def merge(self, tree: Tree) -> tuple[GitDelivery, Commit]:
        """Publish another tree; return its delivery and the commit."""
        before, now = self.tree.files, tree.files
        files = {path: content for path, content in now.items() if before.get(path) != content}
        lab = replace(self.lab, plan=replace(self.lab.plan, site=tree.site))
        after = replace(self, lab=lab, tree=tree)
        return after, after.commit(files | dict.fromkeys(before.keys() - now.keys()))

    def applications(self) -> dict[str, Body]:
        """Return every expected Application by name; empty for one that does not exist yet."""
        found = self.lab.api.list(_ARGO, "Application", self.argocd.namespace)
        existing = {body["metadata"]["name"]: body for body in found}
        return {name: {} for name in self.units} | existing

    def application(self, name: str) -> Body:
        """Return an Application; empty when it does not exist."""
        return self.applications().get(name, {})

    def has_project(self, name: str) -> bool:
        """Return whether an AppProject exists."""
        found = self.lab.api.list(_ARGO, "AppProject", self.argocd.namespace)
        return any(body["metadata"]["name"] == name for body in found)

    def refresh(self, names: Collection[str], how: str = "normal") -> None:
        """Make Argo CD compare Applications with Git now; it would within three minutes."""
        for name, body in self.applications().items():
            if name in names and body:
                self._refresh(body, how)

    def refresh_again(self, names: Collection[str]) -> None:
        """Refresh Applications without a pending refresh.

        A refresh that is requested while Argo CD finishes an earlier one is lost.
        """
        self._refresh_again(names, self.applications())

    def _refresh_again(self, names: Collection[str], seen: Applications) -> None:
        for name in names:
            if (body := seen.get(name)) and not is_refresh_pending(body):
                self._refresh(body, "normal")

    def _refresh(self, application: Body, how: str) -> None:
        self.lab.api.patch(application, {"metadata": {"annotations": {REFRESH: how}}})

    def refresh_team_list(self) -> None:
        """Make Argo CD look for the folders of teams now, and wait until it has."""
        for body in self._application_sets():
            self.lab.api.patch(body, {"metadata": {"annotations": {_REFRESH_SET: "true"}}})
        self.wait(lambda: not any(map(_is_set_refresh_pending, self._application_sets())))
        # An ApplicationSet that is compared while it has the annotation is OutOfSync. Argo CD would
        # compare it again only after two minutes.
        self.refresh([self.lab.plan.site.part("argocd")])

    def _application_sets(self) -> list[Body]:
        return self.lab.api.list(_ARGO, "ApplicationSet", self.argocd.namespace)

    def is_refreshed(self) -> bool:
        """Return whether no Application has a pending refresh."""
        return not any(map(is_refresh_pending, self.applications().values()))

    def wait(self, ready: Callable[[], bool], seconds: float = _PATIENCE) -> bool:
        """Wait for a condition, and write the statuses of objects whose controllers are absent.

        The wait ends early when no Application changes for two minutes while Argo CD applies
        nothing.

        Returns:
            Whether the condition became true.
        """
        return self._wait(lambda _: ready(), seconds)

    def _wait(self, ready: Callable[[Applications], bool], seconds: float) -> bool:
        """Wait for a condition of the Applications.

        They are read once a look: those of 40 teams are a megabyte.
        """
        is_ready, deadline = False, ProgressDeadline(_STILL)

        def ended() -> bool:
            nonlocal is_ready
            write_statuses(self.lab.api, self.tree.manifests)
            seen = self.applications()
            is_ready = ready(seen)
            return is_ready or deadline.exceeded(_state(seen))

        self.lab.processes.waited(ended, seconds, _PAUSE)
        return is_ready

    def wait_until_synced(
        self, commit: Commit, seconds: float = _PATIENCE, health: Collection[str] = ("Healthy",)
    ) -> list[Failure]:
        """Wait until every Application is Synced and healthy, those of a commit with its revision.

        Returns:
            The Applications that are not.
        """

        def is_synced(seen: Applications) -> bool:
            idle = [name for name in self.units if is_idle(seen[name])]
            self._refresh_again({*_behind(commit, seen), *idle}, seen)
            self._sync_by_hand(seen[name] for name in idle if is_manual(seen[name]))
            return not self._not_synced(commit, health, seen)

        # An Application that shows itself is OutOfSync for a moment after each refresh of it.
        if self._wait(is_synced, seconds):
            return []
        return [
            Failure(name, describe(body), self.lab.plan.site.cluster.at)
            for name, body in self._not_synced(commit, health, self.applications()).items()
        ]

    def _not_synced(
        self, commit: Commit, health: Collection[str], seen: Applications
    ) -> dict[str, Body]:
        found = {}
        for name in self.units:
            revision = commit.revision if name in commit.applications else ""
            if not is_synced_and_healthy(seen[name], revision, health):
                found[name] = seen[name]
        return found

    def _sync_by_hand(self, applications: Iterable[Body]) -> None:
        """Start a sync of each Application, as the cluster's page tells the administrator to do."""
        for body in applications:
            options = body["spec"]["syncPolicy"]["syncOptions"]
            self.lab.api.patch(body, {"operation": {"sync": {"syncOptions": options}}})

    def wait_until_compared(self, commit: Commit, seconds: float = _PATIENCE) -> list[Failure]:
        """Wait until every Application of a commit was compared with it, in sync or not.

        Returns:
            The Applications that were not.
        """

        def is_compared(seen: Applications) -> bool:
            behind = _behind(commit, seen)
            self._refresh_again(behind, seen)
            return not behind

        self._wait(is_compared, seconds)
        seen = self.applications()
        return [
            Failure(name, describe(seen[name]), self.lab.plan.site.cluster.at)
            for name in _behind(commit, seen)
        ]

    def wait_until_orphaned(self, name: str) -> list[Failure]:
        """Wait until an Application reports that its folder is gone; return a failure if not."""

        def is_orphaned(seen: Applications) -> bool:
            self._refresh_again([name], seen)
            return "app path does not exist" in describe(seen.get(name, {}))

        if self._wait(is_orphaned, _PATIENCE):
            return []
        return [Failure(name, self.describe(name), self.lab.plan.site.cluster.at)]

    def describe(self, name: str) -> str:
        """Return the status, conditions and messages of an Application in one line."""
        return describe(self.application(name))


def _behind(commit: Commit, seen: Applications) -> list[str]:
    return [name for name in commit.applications if revision_of(seen[name]) != commit.revision]


def _state(seen: Applications) -> object:
    """Return what changes when Argo CD works: a new object while it applies something."""
    if any(map(is_applied, seen.values())):
        return object()
    return {name: describe(body) for name, body in seen.items()}


def _is_set_refresh_pending(body: Body) -> bool:
    return _REFRESH_SET in body["metadata"]["annotations"]
