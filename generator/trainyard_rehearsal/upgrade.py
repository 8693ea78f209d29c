"""Rehearse an upgrade: the tree of a commit, then the plan step by step on the same etcd."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from trainyard.change.diff import Diff, Wanted, diff
from trainyard.change.stages import Action, Stage, stages
from trainyard.change.upgrade import Part
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Progress as Steps
from trainyard.generation.generate import check
from trainyard.golang import cache_folder
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.quantity import counted as number
from trainyard.model.release import Release
from trainyard.model.space import Sample
from trainyard.workflows.generate import check_tree
from trainyard_rehearsal.checks.acceptance import apply_tree, in_sync_order
from trainyard_rehearsal.checks.between_steps import BetweenSteps
from trainyard_rehearsal.checks.job_templates import JobTemplate, one_per_flavor, templates_of
from trainyard_rehearsal.checks.planned_objects import check_objects, planned, prune, uids
from trainyard_rehearsal.checks.queues import check_queues
from trainyard_rehearsal.checks.sample_runs import check_sample_jobs
from trainyard_rehearsal.checks.upgraded_jobs import (
    TeamJobs,
    begin,
    check_ends,
    check_step,
    submit_waiting,
)
from trainyard_rehearsal.control_plane.build import Built, find
from trainyard_rehearsal.control_plane.exchange import exchange, hand_out, on_tree
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.lab import Lab, Plan, Standing, alone, standing
from trainyard_rehearsal.control_plane.side_by_side import side_by_side
from trainyard_rehearsal.outcome import Failure, Outcome
from trainyard_rehearsal.tasks import (
    AT_ONCE,
    Progress,
    Rehearsal,
    Request,
    counting,
    plan_of,
    reported,
)
from trainyard_rehearsal.upgrade_trees import (
    UpgradeTree,
    Way,
    read_way,
    take_base,
)


class NoUpgrade(Exception):  # noqa: N818 - it is the state of the profiles, and no failure
    """No cluster has another release than before, or none that can be upgraded in place."""


def releases_before(request: Request) -> list[Release]:
    """Return the releases of the clusters before their upgrade; none where there is none.

    Raises:
        TreeError: there is no such commit, or it can't be read.
        ToolError: Git is missing or broken.
    """
    if not request.upgraded:
        return []
    with TemporaryDirectory(prefix="trainyard-") as folder:
        side = take_base(request.source, request.upgraded, Path(folder) / "base")
        platform = check(side.profiles, request.source.today).platform
    sites: tuple[Site, ...] = platform.sites if platform else ()
    return [
        site.cluster.release for site in sites if site.name in (request.clusters or {site.name})
    ]


def rehearse_upgrade(request: Request, progress: Progress, steps: Steps) -> Rehearsal:
    """Upgrade each cluster whose release differs from a commit's, two at a time.

    Args:
        request: clusters, teams and the commit before the upgrade.
        progress: prints lines of progress.
        steps: counts the clusters that are done.

    Raises:
        NoUpgrade: there is nothing to rehearse.
        TreeError: a file or the commit can't be read.
        ToolError: a program is missing, does not start, or ends early.
    """
    source, ref = request.source, request.upgraded
    generation, diagnostics = check_tree(source, source.today, request.clusters)
    if has_errors(diagnostics):
        return Rehearsal(generation, diagnostics, {})
    change = diff(source, Wanted(ref, "", False, request.clusters, source.today))
    if has_errors(change.diagnostics):
        return Rehearsal(generation, change.diagnostics, {})
    _need_upgrade(change, ref)
    with TemporaryDirectory(prefix="trainyard-") as folder, alone(cache_folder()):
        shutil.rmtree(cache_folder() / "run", ignore_errors=True)
        base = take_base(source, ref, Path(folder) / "base")
        ways = [
            read_way(source, base, each, change, Path(folder) / each.cluster)
            for each in change.releases
        ]
        tasks = [partial(_rehearsed, way, request, progress) for way in ways]
        done = side_by_side([*counting(tasks, steps)], AT_ONCE)
    outcomes = {way.change.cluster: each for way, each in zip(ways, done, strict=True)}
    return Rehearsal(generation, diagnostics, outcomes)


def _need_upgrade(change: Diff, ref: str) -> None:
    """Refuse to call nothing a success.

    Raises:
        NoUpgrade: no cluster has another release, or one can't be upgraded in place.
    """
    if not change.releases:
        raise NoUpgrade(
            f"every cluster has the release that it has in {ref}; name the commit before the "
            "upgrade"
        )
    for each in change.releases:
        if each.impossible:
            reasons = "; ".join(each.impossible)
            raise NoUpgrade(f"{each.cluster} can't be upgraded in place: {reasons}")


def _rehearsed(way: Way, request: Request, progress: Progress) -> tuple[Outcome, ...]:
    """Start the control plane of the former release, and go the way of a cluster."""
    old, new = (_plan(tree) for tree in (way.old, way.merged))
    former, later = (find(plan.components, cache_folder()) for plan in (old, new))
    name, change = way.change.cluster, way.change
    progress(f"{name}: starting {len(former.programs)} programs of {change.before}")
    if not way.old.samples(request.team):
        team = request.team or "any team"
        progress(f"{name}: no job of {team} to run; what becomes of jobs is not tried")
    with standing(old, former, cache_folder() / "run" / name / "upgrade") as found:
        walk = _Walk(found, way, new, later, request)
        return tuple(reported(found.lab, walk.outcomes(), progress))


def _plan(tree: UpgradeTree) -> Plan:
    return plan_of(tree.site, tree.folder, tree.manifests)


class _Walk:
    """The way of one cluster, step by step.

    Args:
        found: the control plane of the former release.
        way: the plan and its trees.
        plan: of the new release.
        built: its programs.
        request: the teams.
    """

    def __init__(
        self, found: Standing, way: Way, plan: Plan, built: Built, request: Request
    ) -> None:
        self._standing, self._way, self._plan, self._built = found, way, plan, built
        self._request = request
        self._of = way.old
        self._between = BetweenSteps()
        self._jobs = TeamJobs(found.lab)
        self._objects = planned(way.old.manifests, way.opened.manifests, way.objects)

    @property
    def _lab(self) -> Lab:
        return self._standing.lab

    def outcomes(self) -> Iterator[Outcome]:
        """Yield what is seen, from the old tree to the new one; without a team there is less."""
        yield self._applied(self._way.old)
        settle(self._lab)
        before = uids(self._lab, self._objects)
        if self._templates:
            self._jobs, begun = begin(self._lab, self._templates)
            yield begun
        for at, stage in enumerate(stages(self._way.change), 1):
            yield from self._step(at, stage)
        if self._samples:
            yield self._between.outcome
            yield from check_queues(self._lab)
        if self._jobs.every:
            yield check_ends(self._lab, self._jobs.every)
            self._jobs.delete()
        if self._samples:
            yield from check_sample_jobs(self._lab, self._samples)
        yield check_objects(self._objects, before, uids(self._lab, self._objects))

    @property
    def _samples(self) -> list[tuple[Sample, Manifest]]:
        """Sample jobs of the tree before the merge, or after it."""
        return self._of.samples(self._request.team)

    @property
    def _templates(self) -> list[JobTemplate]:
        """Jobs of queues that are open and own nodes."""
        every = one_per_flavor(templates_of(self._samples))
        opened = (each for each in every if each.queue.state.is_open)
        return [each for each in opened if each.fillable(sum(each.own_pods))]

    def _applied(self, tree: UpgradeTree) -> Outcome:
        """Hand out the files of a tree, and apply its objects."""
        self._standing = hand_out(on_tree(self._standing, _plan(tree)))
        return apply_tree(self._lab, in_sync_order(tree.manifests), tree.what)

    def _step(self, at: int, stage: Stage) -> Iterator[Outcome]:
        """Do what a step of the plan says, and yield what became of the jobs."""
        match stage.action:
            case Action.UPGRADE:
                yield from self._upgrade(f"{at}. {stage.display}", stage.parts)
            case Action.DRAIN:
                yield self._drain(f"{at}. merge `state: draining`, then delete each TrainJob")
            case Action.OPEN:
                failures = self._applied(self._way.opened).failures
                words = f"{at}. merge `state: active`"
                yield check_step(words, 1, failures, "the queues are open")

    def _drain(self, words: str) -> Outcome:
        """Merge the drained cluster, and delete the jobs once all are evicted."""
        assert self._way.drained
        jobs, self._jobs = self._jobs, TeamJobs(self._lab)
        refused = self._applied(self._way.drained).failures
        failures = [*refused, *jobs.drained(), *jobs.delete()]
        fate = f"{number(len(jobs.every), 'job')} evicted, then deleted"
        return check_step(words, 1 + len(jobs.every), failures, fate)

    def _upgrade(self, words: str, parts: Sequence[Part]) -> Iterator[Outcome]:
        """Upgrade what operators bring, and merge; try hostile jobs after each."""
        failures: list[Failure] = []
        for part in parts:
            if part.is_tree:
                failures += yield from self._merge()
            for change in part.versions:
                self._standing = exchange(self._standing, change.name, self._plan, self._built)
            self._between.look(self._lab, self._samples, part.display)
        failures += self._jobs.gone_on()
        tried = len(parts) + len(self._jobs.every)
        yield check_step(words, tried, failures, self._jobs.display)

    def _merge(self) -> Generator[Outcome, None, list[Failure]]:
        """Merge the new tree; where its queues are stopped, submit jobs that wait.

        Returns:
            Jobs that are refused.
        """
        objects = self._objects
        prune(self._lab, objects, objects.made_again)
        yield self._applied(self._way.merged)
        prune(self._lab, objects, objects.goes)
        settle(self._lab)
        self._of = self._way.opened
        if self._way.drained is None:
            return []
        self._jobs, refused = submit_waiting(self._lab, self._templates)
        return refused
