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
from tests.e2e.objects import identity_of
from tests.e2e.reality_changes import KINDS, TEAMS, Changes, base
from tests.e2e.reality_jobs import Situation, situation
from tests.e2e.reality_paths import paths, rails
from tests.e2e.reality_rights import changed, expected, reviews_of
from tests.e2e.reality_running import Running
from tests.e2e.reality_said import Held, Object
from tests.e2e.reality_seen import Seen
from tests.e2e.reality_tally import CLASSES, Tally
from tests.e2e.setup import over
from tests.e2e.stage import Stage
from tests.e2e.volumes import storage_class
from tests.rules.cases import findings
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.objects import Sides
from trainyard.diagnostics import has_errors
from trainyard.model.manifest import UNLISTED
from trainyard.model.platform import Site
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.checks.applications import revision_of
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery, Tree
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle, volumes

_LOG = logging.getLogger(__name__)
_PATIENCE = 600.0
"""Seconds: on a busy machine Argo CD needs more than three minutes, and nothing is stuck."""
QUEUEING = frozenset(
    {"quota", "borrowing", "lending", "cohort", "parent", "priority", "drained", "pool"}
)
"""Kinds of change before which other jobs are started; under the others those jobs run on."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One change: what `diff` says about it, and the jobs under which it is made.

    Args:
        label: number and kind; a walk with the same seed makes the same change under it.
        told: teams whose jobs it may evict.
    """

    label: str
    both: Sides
    impact: ClusterImpact
    told: frozenset[str]
    plan: Situation


@dataclass(slots=True)
class Walk:
    """One change after the other, each of the tree that the one before left.

    Args:
        state: changes of the cases' base that make the tree now.
        running: the jobs that were started last.
        refused, tried: kinds of change that rules refused before a merge, and that were merged.
        stuck: what Argo CD did not sync, though the rules let it pass.
    """

    stage: Stage
    order: random.Random
    state: Changes = field(default_factory=base)
    delivery: GitDelivery = field(init=False)
    running: Running = field(default_factory=Running)
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
        self.stage.api.apply(storage_class("cephfs"))
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
        trial = self._trial(kind, said_by.sides(old, new))
        if trial.plan.runs:
            self.running.start(self.stage.scene(self.state), trial.plan)
        states = self.running.states()
        reviews = list(reviews_of(trial.both, trial.impact, self.order))
        before, allowed = self._seen(old, new), self._allowed(reviews)
        self._merge(trial, new)
        edit = {name: each for name, each in after.items() if each != self.state.get(name)}
        self.state = after
        self._compare_objects(trial, before, self._seen(old, new))
        told = expected(trial.both, trial.impact, allowed)
        self._add("permissions", trial, told, changed(allowed, self._allowed(reviews)))
        self._compare_jobs(trial, states)
        self._tidy(trial.both)
        self._log(trial, edit)

    def _log(self, trial: Trial, edit: Changes) -> None:
        """Log a change, its misses, and what is counted so far: a walk may take half an hour."""
        misses = [each for tally in self.tallies.values() for each in tally.of(trial.label)]
        figures = {name: each.right for name, each in self.tallies.items()}
        _LOG.info("%s %s: %s %s", trial.label, edit, misses, trial.plan)
        _LOG.info("%s, %s refused by rules", figures, self.refused.total())
        _LOG.info("not synced: %s", self.stuck)

    def _trial(self, kind: str, both: Sides) -> Trial:
        self.tried[kind] += 1
        impact = said_by.impact_of(both)
        told, plan = said_by.evicted(impact), Situation((), judged=frozenset(TEAMS))
        assert both.old
        assert both.new
        if kind in QUEUEING or told:
            plan = situation(both.old, both.new, told, self.order)
        return Trial(f"{self.tried.total()} {kind}", both, impact, told, plan)

    def _add(
        self, name: str, trial: Trial, said: Mapping[Any, object], happened: Mapping[Any, object]
    ) -> None:
        self.tallies[name].add(trial.label, set(said.items()), set(happened.items()))

    def _compare_objects(
        self, trial: Trial, before: Mapping[Object, Seen], after: Mapping[Object, Seen]
    ) -> None:
        both, impact = trial.both, trial.impact
        ours = {said_by.key_of(each) for each in (*both.before, *both.after)}
        fates = seen_on.fates(before, after, ours)
        self._add("objects", trial, said_by.objects(both, impact), fates)
        self._add("network paths", trial, *rails(impact, before, after))
        for said, happened in paths(impact, before, after):
            self._add("network paths", trial, said, happened)

    def _compare_jobs(self, trial: Trial, states: Mapping[str, str]) -> None:
        """Compare whose jobs were evicted; of teams that a plan does not show, nothing is said."""
        told, scene = trial.told & trial.plan.judged, self.stage.scene(self.state)
        happened = self.running.evicted(scene, trial.plan, states, told)
        said: set[object] = set(trial.told & {*trial.plan.judged, *happened})
        self.tallies["evictions"].add(trial.label, said, happened)

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

    def _merge(self, trial: Trial, new: Site) -> None:
        tree = Tree(new, files_of(new), synced(new), ())
        self.delivery, commit = self.delivery.merge(tree)
        self._bind()
        if not self.delivery.wait(lambda: self._is_synced(commit, trial), _PATIENCE):
            states = {name: self.delivery.describe(name) for name in commit.applications}
            self.stuck.append(f"{trial.label}: {states}")
        self._bind()

    def _bind(self) -> None:
        """Make the volumes of claims, as their provisioner does, and wait for both."""
        for body in volumes(self.delivery.tree.site):
            self.stage.api.apply(body)

        def are_bound() -> bool:
            claims = self.stage.api.list("v1", "PersistentVolumeClaim")
            return all((each.get("status") or {}).get("phase") == "Bound" for each in claims)

        assert self.stage.until(are_bound)

    def _is_synced(self, commit: Commit, trial: Trial) -> bool:
        """Return whether a commit is synced but for what it leaves behind; else remind Argo CD."""
        seen, left = self.delivery.applications(), said_by.left_behind(trial.impact)
        late = [name for name in commit.applications if not _has(seen[name], commit, left)]
        self.delivery.refresh_again(late)
        return not late

    def _seen(self, *sites: Site) -> dict[Object, Seen]:
        manifests = (each for site in sites for each in synced(site))
        kinds = sorted({(each.body["apiVersion"], each.kind.name) for each in manifests})
        return seen_on.objects(self.stage.api, kinds)

    def _allowed(self, reviews: Iterable[Held]) -> dict[Held, bool]:
        return {each: seen_on.may(self.stage.api, each) for each in reviews}

    def _tidy(self, both: Sides) -> None:
        """Delete what a change left behind, as its administrator does."""
        gone = [both.before[key] for key in both.before.keys() - both.after.keys()]
        left = [identity_of(each.body) for each in gone if each.unit not in UNLISTED]
        for each in left:
            self.stage.delete(*each)
        spaces = [each for each in left if each[1] == "Namespace"]
        assert self.stage.until(lambda: all(self.stage.is_gone(*each) for each in spaces))
        self.stage.delete_used_volumes()


def _has(application: Body, commit: Commit, left: set[Object]) -> bool:
    """Return whether an Application has a commit, and nothing else differs than what is left."""
    status = application.get("status") or {}
    differing = {
        (each["kind"], each.get("namespace", ""), each["name"])
        for each in status.get("resources", ())
        if each.get("status") != "Synced"
    }
    compared = {"Synced", "OutOfSync"} if left else {"Synced"}
    is_done = status.get("operationState", {}).get("phase") == "Succeeded"
    is_done = is_done and status.get("sync", {}).get("status") in compared
    is_new = revision_of(application) == commit.revision
    return is_new and is_done and differing <= left and "operation" not in application
