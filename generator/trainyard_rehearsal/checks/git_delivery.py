"""A tree in Git, what Argo CD makes of it, and how to have it look now."""

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
    is_applied,
    is_asked,
    is_fine,
    is_idle,
    is_manual,
    revision_of,
    told_by,
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
"""Seconds for what takes less than a hundred: a busy machine is no failure, and a wait without a
move ends sooner."""
_STILL = 120.0
"""Seconds after which a wait ends although it has time left: what Argo CD does shows in less than
ten."""
_PAUSE = 1.0
"""Seconds between two looks at what Argo CD does: each look takes some of the machine that it works
on."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What lies in Git at one time.

    Args:
        site: the cluster that it was made of.
        files: of the repository, by path in it.
        manifests: what Argo CD shall apply.
        samples: jobs that its users may copy.
    """

    site: Site
    files: Mapping[str, bytes]
    manifests: Sequence[Manifest]
    samples: Sequence[tuple[Sample, Manifest]]


class Commit(NamedTuple):
    """What was published.

    Args:
        applications: names of those that it concerns.
    """

    revision: str
    applications: Collection[str]


@dataclass(frozen=True, slots=True)
class GitDelivery:
    """A tree in Git, and Argo CD that takes it from there."""

    lab: Lab
    argocd: ArgoCD
    repository: Repository
    tree: Tree

    @property
    def units(self) -> dict[str, str]:
        """The unit of each Application that there shall be, by its name."""
        site = self.lab.plan.site
        own = ("argocd", "platform", *(("nodes",) if site.cluster.has_node_unit else ()))
        teams = {tenant.application: f"teams/{tenant.name}" for tenant in site.tenants}
        return {site.part(unit): unit for unit in own} | teams

    def path(self, manifest: Manifest) -> str:
        """Return the file of an object in the repository."""
        return self.lab.plan.site.folder(manifest.path)

    def committed(self, files: Mapping[str, bytes | None]) -> Commit:
        """Publish files, and have Argo CD look at the units that they are in."""
        root = self.lab.plan.site.folder("")
        touched = {
            PurePosixPath(path.removeprefix(root)).parent.as_posix()
            for path in files
            if path.startswith(root)
        }
        names = [name for name, unit in self.units.items() if unit in touched]
        commit = Commit(self.repository.commit(files), names)
        self.refresh(names)
        return commit

    def merged(self, tree: Tree) -> tuple[GitDelivery, Commit]:
        """Publish another tree; return what is delivered then."""
        before, now = self.tree.files, tree.files
        files = {path: content for path, content in now.items() if before.get(path) != content}
        lab = replace(self.lab, plan=replace(self.lab.plan, site=tree.site))
        after = replace(self, lab=lab, tree=tree)
        return after, after.committed(files | dict.fromkeys(before.keys() - now.keys()))

    def applications(self) -> dict[str, Body]:
        """Return every Application that there shall be, by name; empty where there is none yet."""
        found = self.lab.api.list(_ARGO, "Application", self.argocd.namespace)
        return {name: {} for name in self.units} | {
            body["metadata"]["name"]: body for body in found
        }

    def application(self, name: str) -> Body:
        """Return an Application; empty when there is none yet."""
        return self.applications().get(name, {})

    def has_project(self, name: str) -> bool:
        """Tell whether there is an AppProject."""
        found = self.lab.api.list(_ARGO, "AppProject", self.argocd.namespace)
        return any(body["metadata"]["name"] == name for body in found)

    def refresh(self, names: Collection[str], how: str = "normal") -> None:
        """Have Argo CD look at Git for some Applications now; it would within three minutes."""
        for name, body in self.applications().items():
            if name in names and body:
                self.lab.api.patch(body, {"metadata": {"annotations": {REFRESH: how}}})

    def remind(self, names: Collection[str]) -> None:
        """Ask again where the question is gone: one that comes while an earlier one is answered goes with it."""
        asked = {name for name, body in self.applications().items() if is_asked(body)}
        self.refresh(set(names) - asked)

    def list_teams(self) -> None:
        """Have Argo CD look now which folders of teams there are, and wait until it has."""

        def sets() -> list[Body]:
            return self.lab.api.list(_ARGO, "ApplicationSet", self.argocd.namespace)

        for body in sets():
            self.lab.api.patch(body, {"metadata": {"annotations": {_REFRESH_SET: "true"}}})
        self.waited(
            lambda: not any(_REFRESH_SET in body["metadata"]["annotations"] for body in sets())
        )
        # Compared while the mark stood, the set is OutOfSync; that would be looked at again in two
        # minutes.
        self.refresh([self.lab.plan.site.part("argocd")])

    def is_refreshed(self) -> bool:
        """Tell whether Argo CD has looked."""
        return not any(map(is_asked, self.applications().values()))

    def waited(self, ready: Callable[[], bool], seconds: float = _PATIENCE) -> bool:
        """Wait for something, while what others' controllers would say of their objects is said for them.

        It ends early when no Application says anything else for two minutes, and Argo CD applies
        nothing.
        """
        came, deadline = False, ProgressDeadline(_STILL)

        def ended() -> bool:
            nonlocal came
            write_statuses(self.lab.api, self.tree.manifests)
            came = ready()
            bodies = self.applications()
            works = any(map(is_applied, bodies.values()))
            return came or deadline.exceeded(
                object() if works else {name: told_by(body) for name, body in bodies.items()}
            )

        self.lab.processes.waited(ended, seconds, _PAUSE)
        return came

    def settled(
        self, commit: Commit, seconds: float = _PATIENCE, health: Collection[str] = ("Healthy",)
    ) -> list[Failure]:
        """Wait until every Application is Synced, those of a commit with it, and healthy; return those that are not."""

        def unsettled() -> dict[str, Body]:
            bodies = self.applications()
            wanted = {
                name: commit.revision if name in commit.applications else "" for name in self.units
            }
            return {
                name: bodies[name]
                for name in wanted
                if not is_fine(bodies[name], wanted[name], health)
            }

        def is_settled() -> bool:
            bodies = self.applications()
            idle = [name for name in self.units if is_idle(bodies[name])]
            self.remind({*self._behind(commit), *idle})
            self._sync_by_hand(body for name in idle if is_manual(body := bodies[name]))
            return not unsettled()

        self.waited(is_settled, seconds)
        return [
            Failure(name, told_by(body), self.lab.plan.site.cluster.at)
            for name, body in unsettled().items()
        ]

    def _sync_by_hand(self, applications: Iterable[Body]) -> None:
        """Start a sync of each Application, as the page of the cluster tells the administrator to."""
        for body in applications:
            options = body["spec"]["syncPolicy"]["syncOptions"]
            self.lab.api.patch(body, {"operation": {"sync": {"syncOptions": options}}})

    def compared(self, commit: Commit, seconds: float = _PATIENCE) -> list[Failure]:
        """Wait until every Application of a commit has looked at it, in sync or not; return those that have not."""

        def is_compared() -> bool:
            behind = self._behind(commit)
            self.remind(behind)
            return not behind

        self.waited(is_compared, seconds)
        return [
            Failure(name, self.display(name), self.lab.plan.site.cluster.at)
            for name in self._behind(commit)
        ]

    def _behind(self, commit: Commit) -> list[str]:
        bodies = self.applications()
        return [
            name for name in commit.applications if revision_of(bodies[name]) != commit.revision
        ]

    def orphaned(self, name: str) -> list[Failure]:
        """Wait until an Application says that its folder is gone; return what it says instead."""

        def is_orphaned() -> bool:
            self.remind([name])
            return "app path does not exist" in self.display(name)

        if self.waited(is_orphaned):
            return []
        return [Failure(name, self.display(name), self.lab.plan.site.cluster.at)]

    def display(self, name: str) -> str:
        """Return what an Application says of itself."""
        return told_by(self.application(name))


def contents(lab: Lab, manifests: Iterable[Manifest]) -> dict[str, Body]:
    """Return what objects say on the cluster, metadata and status left aside; nothing for one that is not there."""
    return {manifest.path: _content(lab, manifest) for manifest in manifests}


def differences(
    lab: Lab, manifests: Sequence[Manifest], before: Mapping[str, Body], words: str
) -> list[Failure]:
    """Return those objects that say something else now."""
    now = contents(lab, manifests)
    return [
        Failure(each.path, words, each.at)
        for each in manifests
        if now[each.path] != before[each.path]
    ]


def _content(lab: Lab, manifest: Manifest) -> Body:
    body = lab.api.find(
        manifest.body["apiVersion"], manifest.kind.name, manifest.name, manifest.namespace
    )
    return {field: value for field, value in body.items() if field not in {"metadata", "status"}}
