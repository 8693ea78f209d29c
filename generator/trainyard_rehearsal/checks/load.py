"""Many jobs at once: more than all queues hold, of any size and class, until the last has ended."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.jobs import JOBSET, KUEUE, TRAINER, Job, is_true
from trainyard_rehearsal.checks.lanes import Crowd, Lane, find_lanes
from trainyard_rehearsal.checks.life import roles
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_PATIENCE = 600.0
_SETTLING = 300.0

Submitted = Sequence[tuple[Job, Lane, int]]
"""Jobs with their lane and number of pods."""


def check_load(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Submit more than the cluster holds; nobody has too much, nobody waits without a word, all end.

    Args:
        lab: with the tree applied.
        samples: the jobs that the tree has to copy.
        teams: names of those that ask for twice what they may have at most; the others ask for
            their own quota.
    """
    chosen = random.Random(lab.plan.site.name)  # noqa: S311 - the same jobs each time
    every = find_lanes(samples)
    lanes = [lane for lane in every if _comes_back(lane)]
    if not lanes:
        return
    left_out = f"; {len(every) - len(lanes)} with steps left out" if len(lanes) < len(every) else ""
    with Crowd(lab) as crowd:
        jobs = [
            (crowd.add(lane, pods, chosen.choice(lane.space.priorities or (None,))), lane, pods)
            for lane, pods in _jobs(lanes, teams, chosen)
        ]
        failures = list(_settle(lab, jobs))
        watch = _Watch(lab, jobs)
        lab.processes.waited(watch.step, _PATIENCE)
        failures += [*watch.failures(), *_unfinished(jobs)]
        yield counted("jobs of a full cluster end", len(jobs), failures, watch.remark + left_out)


def _comes_back(lane: Lane) -> bool:
    """Leave out what a rule has told already: evicted after its steps, such a job never ends here."""
    return lane.sample.launch.returns_after_steps


def _jobs(
    lanes: Sequence[Lane], teams: Collection[str], chosen: random.Random
) -> Iterator[tuple[Lane, int]]:
    """Yield jobs for each queue, by a random runtime of it, until they ask for all that its team asks for."""
    for name in sorted({lane.queue.name for lane in lanes}):
        own = [lane for lane in lanes if lane.queue.name == name]
        pressing = own[0].space.team.name in teams
        asked = (
            2 * each.quota.maximum if pressing else each.quota.nodes
            for each in own[0].queue.flavors
        )
        left = sum(asked, Fraction(0))
        while left > 0:
            lane = chosen.choice(own)
            pods = chosen.randint(lane.least, min(lane.grant.nodes, lane.least + 2))
            left -= pods * lane.sample.launch.part
            yield lane, pods


def _settle(lab: Lab, jobs: Submitted) -> Iterator[Failure]:
    """Wait, before any job ends, until each runs or says why not, and no queue has nodes of its own to spare."""
    lab.processes.waited(lambda: not list(_idle(jobs)), _SETTLING)
    for job, lane, words in _idle(jobs):
        yield Failure(_what(job), words, lane.at)


def _idle(jobs: Submitted) -> Iterator[tuple[Job, Lane, str]]:
    """Yield jobs that wait without a word, or that their queue's own quota would hold.

    Of jobs that are equal, Kueue tells the first why (``SchedulingEquivalenceHashing``, since 0.18;
    kubernetes-sigs/kueue:pkg/cache/queue/cluster_queue.go@v0.19.2).
    """
    used: dict[str, Fraction] = defaultdict(Fraction)
    waiting = []
    for job, lane, pods in jobs:
        if job.is_admitted:
            used[lane.queue.name] += pods * lane.sample.launch.part
        else:
            waiting.append((job, lane, pods))
    told = {(lane.name, pods) for job, lane, pods in waiting if job.waits_because}
    for job, lane, pods in waiting:
        own = sum((flavor.quota.nodes for flavor in lane.queue.flavors), Fraction(0))
        if (lane.name, pods) not in told:
            yield job, lane, "waits, and nothing says why"
        elif used[lane.queue.name] + pods * lane.sample.launch.part <= own:
            yield (
                job,
                lane,
                f"waits beside {own - used[lane.queue.name]} free nodes: {job.waits_because}",
            )


def _unfinished(jobs: Submitted) -> Iterator[Failure]:
    for job, lane, _ in jobs:
        if not is_true(job.body, "Complete"):
            yield Failure(
                _what(job), f"is not complete: {job.waits_because or 'nothing says why'}", lane.at
            )


def _what(job: Job) -> str:
    return f"TrainJob {job.namespace}/{job.name}"


class _Watch:
    """Ends jobs as soon as they run, and looks each time who has how much."""

    def __init__(self, lab: Lab, jobs: Submitted) -> None:
        self._lab = lab
        self._jobs = {(job.namespace, job.name): (job, lane, pods) for job, lane, pods in jobs}
        self._most: dict[str, Fraction] = defaultdict(Fraction)

    def step(self) -> bool:
        """Look at all jobs once; tell whether the last has ended."""
        self._measure()
        pods: dict[tuple[str, str], list[Body]] = defaultdict(list)
        for pod in self._lab.api.list("v1", "Pod", labels=JOBSET):
            pods[pod["metadata"]["namespace"], pod["metadata"]["labels"][JOBSET]].append(pod)
        for key, (job, lane, size) in self._jobs.items():
            self._advance(job, lane, size, pods[key])
        over = self._lab.api.list(TRAINER, "TrainJob")
        return all(is_true(body, "Complete") or is_true(body, "Failed") for body in over)

    def _measure(self) -> None:
        """Add up what is admitted now, by queue and by pool."""
        now: dict[str, Fraction] = defaultdict(Fraction)
        for body in self._lab.api.list(KUEUE, "Workload"):
            (owner,) = body["metadata"]["ownerReferences"]
            key = (body["metadata"]["namespace"], owner["name"])
            if is_true(body, "Admitted") and not is_true(body, "Finished"):
                _, lane, _ = self._jobs[key]
                for flavor, pods in _given(body, lane):
                    now[f"queue {lane.queue.name}"] += pods * lane.sample.launch.part
                    now[f"pool {flavor}"] += pods * lane.sample.launch.part
        for name, amount in now.items():
            self._most[name] = max(self._most[name], amount)

    @staticmethod
    def _advance(job: Job, lane: Lane, size: int, pods: Sequence[Body]) -> None:
        """End a job's step, or the job, when all its pods run."""
        running: dict[str, int] = defaultdict(int)
        for pod in pods:
            running[pod["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"]] += _runs(
                pod
            )
        for step in lane.sample.launch.runtime.initializers:
            if running[step.name]:
                job.end(step.name)
        wanted = roles(lane.grant, size)
        if all(running[role] == count for role, count in wanted.items()):
            job.end("launcher" if "launcher" in wanted else "node")

    @property
    def remark(self) -> str:
        """How full each pool was."""
        pools = {pool.name: pool.promised for pool in self._lab.plan.site.cluster.pools}
        return "at most " + ", ".join(
            f"{float(self._most[f'pool {name}']):g} of {promised} {name}"
            for name, promised in pools.items()
        )

    def failures(self) -> Iterator[Failure]:
        """Yield queues and pools that once had more than they may."""
        for lane in {lane.queue.name: lane for _, lane, _ in self._jobs.values()}.values():
            maximum = sum((flavor.quota.maximum for flavor in lane.queue.flavors), Fraction(0))
            if (had := self._most[f"queue {lane.queue.name}"]) > maximum:
                yield Failure(
                    f"ClusterQueue {lane.queue.name}",
                    f"had {had} nodes and may have {maximum}",
                    lane.at,
                )
        for pool in self._lab.plan.site.cluster.pools:
            if (had := self._most[f"pool {pool.name}"]) > pool.promised:
                yield Failure(f"pool {pool.name}", f"gave {had} nodes of {pool.promised}", pool.at)


def _given(workload: Body, lane: Lane) -> Iterator[tuple[str, int]]:
    """Yield flavors and how many pods of ranks a workload has of each."""
    for each in workload["status"]["admission"]["podSetAssignments"]:
        if each["name"] in lane.sample.launch.runtime.launcher.roles:
            yield next(iter(each["flavors"].values())), each["count"]


def _runs(pod: Body) -> bool:
    return bool(
        pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    )
