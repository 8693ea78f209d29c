"""Random changes on a control plane with Argo CD, each beside what `diff` said about it."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.e2e import reality_said as said_by
from tests.e2e import reality_seen as seen_on
from tests.e2e.git import files_of, synced
from tests.e2e.reality_changes import KINDS, TEAMS, Changes, base
from tests.e2e.reality_jobs import Request, Situation, situation
from tests.e2e.reality_paths import paths, rails
from tests.e2e.reality_rights import changed, expected, reviews_of
from tests.e2e.reality_said import Held, Object
from tests.e2e.reality_seen import Seen
from tests.e2e.reality_tally import CLASSES, Tally
from tests.e2e.setup import over
from tests.e2e.stage import Scene, Stage
from tests.rules.cases import findings
from trainyard.change.impact.model import ClusterImpact, Sides
from trainyard.diagnostics import has_errors
from trainyard.model.manifest import UNLISTED
from trainyard.model.platform import Site
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.checks.applications import revision_of
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery, Tree
from trainyard_rehearsal.checks.jobs import Job, conditions
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle

_LOG = logging.getLogger(__name__)
QUEUEING = frozenset(
    {"quota", "borrowing", "lending", "cohort", "parent", "priority", "drained", "pool"}
)
"""Kinds of change before which other jobs are started; under the others those jobs run on."""
_REVIEWS = 200
_ADDRESSES = ("198.51.100.1", "198.51.100.65", "192.0.2.1", "203.0.113.1", "203.0.113.9", "8.8.8.8")
_SPACES = ("kube-system", "mlflow", "monitoring", "openshift-dns", "team-audio")
_AFTERWARDS = 3.0
"""Seconds in which Kueue evicts whom it evicts at all; it takes less than one."""


@dataclass(slots=True)
class Walk:
    """One change after the other, each of the tree that the one before left.

    Args:
        state: changes of the cases' base that make the tree now.
        jobs: that were started, by the request.
        refused: kinds of change that rules refused before a merge.
        tried: kinds of change that were merged.
    """

    stage: Stage
    order: random.Random
    state: Changes = field(default_factory=base)
    delivery: GitDelivery = field(init=False)
    jobs: list[tuple[Request, Job]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    tallies: dict[str, Tally] = field(default_factory=lambda: {each: Tally() for each in CLASSES})
    stuck: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Deliver the first tree; Argo CD takes over existing objects faster than it makes them."""
        site = self.stage.moved(self.state)
        assert self.stage.argocd
        tree = Tree(site, files_of(site), synced(site), ())
        lab = replace(self.stage.lab, plan=replace(self.stage.lab.plan, site=site))
        self.delivery = GitDelivery(lab, self.stage.argocd, self.stage.repository, tree)
        self.stage.api.apply(_storage_class())
        scene = self.stage.deploy(self.state)
        assert not scene.refused, scene.refused
        settle(lab)
        commit = self.delivery.commit(tree.files)
        for manifest in in_sync_order(each for each in tree.manifests if each.unit == "argocd"):
            self.stage.api.apply(manifest.body, manager="kubectl")
        assert not (failures := self.delivery.wait_until_synced(commit, 240)), failures

    def change(self, kind: str) -> None:
        """Merge one change that the rules let pass, and compare what happens with what was said."""
        after = self._next(kind)
        old, new = self.delivery.tree.site, self.stage.moved(after)
        both = said_by.sides(old, new)
        impact = said_by.impact_of(both)
        edit = {name: new for name, new in after.items() if new != self.state.get(name)}
        label = f"{sum(self.tried.values()) + 1} {kind} {edit}"
        self.tried[kind] += 1
        told = said_by.evicted(impact)
        plan = Situation((), judged=frozenset(TEAMS))
        if kind in QUEUEING or told:
            plan = situation(old, new, told, self.order)
            self._start(plan)
        jobs, reviews = self._evictions(), list(reviews_of(both, impact, self.order))
        before, allowed = self._seen(old, new), self._allowed(reviews)
        self._merge(label, new, impact)
        self.state = after
        now = self._seen(old, new)
        ours = {said_by.key_of(each) for each in (*both.before, *both.after)}
        self._add("objects", label, said_by.objects(both, impact), seen_on.fates(before, now, ours))
        self._add("network paths", label, *rails(impact, before, now))
        for said, happened in paths(impact, before, now):
            self._add("network paths", label, said, happened)
        told_rights = expected(both, impact, allowed)
        self._add("permissions", label, told_rights, changed(allowed, self._allowed(reviews)))
        self._compare_jobs(label, told, plan, jobs)
        self._tidy(both)
        new_misses = [
            each for tally in self.tallies.values() for each in tally.misses if f": {label}" in each
        ]
        _LOG.info("%s, %s", label, new_misses)

    def _add(
        self, name: str, label: str, said: Mapping[Any, object], happened: Mapping[Any, object]
    ) -> None:
        self.tallies[name].add(label, set(said.items()), set(happened.items()))

    def _next(self, kind: str) -> Changes:
        """Return the state after a change of a kind that the rules let pass."""
        settings = self.stage.setup.with_settings
        for _ in range(200):
            after: Changes = over(self.state, KINDS[kind](self.state, self.order))
            same = files_of(self.stage.moved(after)) == self.delivery.tree.files
            if same:
                continue
            if not has_errors(findings({**settings(after), "before": settings(self.state)})):
                return after
            self.refused[kind] += 1
        raise AssertionError(f"no change of kind {kind}")

    def _merge(self, label: str, new: Site, impact: ClusterImpact) -> None:
        tree = Tree(new, files_of(new), synced(new), ())
        self.delivery, commit = self.delivery.merge(tree)
        settle(self.delivery.lab)
        left = said_by.left_behind(impact)
        if not self.delivery.wait(lambda: self._is_synced(commit, left), 180):
            states = {name: self.delivery.describe(name) for name in commit.applications}
            self.stuck.append(f"{label}: {states}")
        settle(self.delivery.lab)

    def _is_synced(self, commit: Commit, left: set[Object]) -> bool:
        """Return whether a commit is synced but for what it leaves behind; else remind Argo CD."""
        seen = self.delivery.applications()
        late = [name for name in commit.applications if not _has(seen[name], commit, left)]
        self.delivery.refresh_again(late)
        return not late

    def _seen(self, *sites: Site) -> dict[Object, Seen]:
        manifests = (each for site in sites for each in synced(site))
        kinds = sorted({(each.body["apiVersion"], each.kind.name) for each in manifests})
        return seen_on.objects(self.stage.api, kinds)

    def _scene(self) -> Scene:
        return self.stage.scene(self.state)

    def _start(self, plan: Situation) -> None:
        """End the jobs of earlier changes, and start others."""
        self.stage.delete_jobs()
        scene = self._scene()
        self.jobs = [(each, _submitted(scene, each)) for each in plan.runs]
        assert scene.runs(*(job for _, job in self.jobs))
        for each in plan.waits:
            _submitted(scene, each)

    def _evictions(self) -> dict[str, str]:
        """Return, by the name of a running job, what tells of its evictions."""
        return {job.name: _evicted(job) for _, job in self.jobs}

    def _compare_jobs(
        self, label: str, told: frozenset[str], plan: Situation, before: Mapping[str, str]
    ) -> None:
        scene = self._scene()
        for each in plan.claims:
            _submitted(scene, each)

        def gone() -> set[object]:
            now = self._evictions()
            return {each.team for each, job in self.jobs if now[job.name] != before[job.name]}

        wanted = told & plan.judged
        seconds = 45.0 if wanted or plan.evicts else _AFTERWARDS
        self.stage.until(lambda: bool(gone()) and gone() >= wanted, seconds)
        happened = gone()
        judged = {*plan.judged, *happened}
        self.tallies["evictions"].add(f"{label} {plan}", set(told & judged), happened)

    def _allowed(self, reviews: Iterable[Held]) -> dict[Held, bool]:
        return {each: seen_on.may(self.stage.api, each) for each in reviews}

    def _tidy(self, both: Sides) -> None:
        """Delete what a change left behind, as its administrator does."""
        gone = [both.before[key] for key in both.before.keys() - both.after.keys()]
        left = [each for each in gone if each.unit not in UNLISTED]
        for each in left:
            body = each.body
            self.stage.delete(body["apiVersion"], body["kind"], each.namespace, each.name)
        self.stage.delete_used_volumes()


def _has(application: Body, commit: Commit, left: set[Object]) -> bool:
    """Return whether an Application has a commit, and nothing else differs than what is left."""
    status = application.get("status") or {}
    differing = {
        (each["kind"], each.get("namespace", ""), each["name"])
        for each in status.get("resources", ())
        if each.get("status") != "Synced"
    }
    is_done = status.get("operationState", {}).get("phase") == "Succeeded"
    is_new = revision_of(application) == commit.revision
    return is_new and is_done and differing <= left and "operation" not in application


def _submitted(scene: Scene, each: Request) -> Job:
    return scene.submit(each.team, each.nodes, priority_class=each.priority)


def _evicted(job: Job) -> str:
    """Return what changes when a job is evicted, or when its quota is given to others."""
    workload = job.workload
    times = (
        each.get("lastTransitionTime")
        for each in conditions(workload)
        if each["type"] == "Evicted" and each["status"] == "True"
    )
    return f"{workload.get('metadata', {}).get('uid')} {next(times, '')}"


def _storage_class() -> Body:
    """Return the class of the base's claims, which may grow."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "cephfs"},
        "provisioner": "example.com/none",
        "allowVolumeExpansion": True,
    }
