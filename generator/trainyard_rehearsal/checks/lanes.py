"""Jobs of chosen sizes: the samples, larger and in numbers, submitted by their team's users and taken away again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count, zip_longest
from types import TracebackType
from typing import Self

from trainyard.diagnostics import Pointer
from trainyard.model.cluster import Priority
from trainyard.model.manifest import Manifest
from trainyard.model.queue import Flavor, Queue
from trainyard.model.space import Grant, Sample, Space
from trainyard_rehearsal.checks.jobs import KUEUE, Job, as_user, changed, named, submit
from trainyard_rehearsal.control_plane.api import Body, Refused
from trainyard_rehearsal.control_plane.lab import Lab

_PATIENCE = 120.0
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Lane:
    """A way into a queue: a sample job, and the quota that its pods count against."""

    sample: Sample
    manifest: Manifest
    queue: Queue
    flavors: tuple[Flavor, ...]

    @property
    def space(self) -> Space:
        """The namespace."""
        return self.sample.space

    @property
    def grant(self) -> Grant:
        """The runtime, and its largest job."""
        return self.sample.grant

    @property
    def at(self) -> Pointer:
        """Where the quota is said."""
        return self.flavors[0].quota.at

    @property
    def name(self) -> str:
        """The queue and the runtime, as a reader finds them."""
        return f"ClusterQueue {self.queue.name}, {self.sample.launch.name}"

    @property
    def least(self) -> int:
        """Pods of the smallest job."""
        return self.sample.launch.runtime.launcher.smallest_job

    @property
    def own(self) -> tuple[int, ...]:
        """Pods that each flavor's own quota holds."""
        return tuple(self._pods(flavor.quota.nodes) for flavor in self.flavors)

    @property
    def maximum(self) -> tuple[int, ...]:
        """The same with all that may be borrowed."""
        return tuple(self._pods(flavor.quota.maximum) for flavor in self.flavors)

    def filled(self, pods: int) -> int:
        """Return how many of so many pods jobs can have: what is too little for one more is left."""
        return sum(split(pods, self.least, self.grant.nodes))

    def _pods(self, nodes: Fraction) -> int:
        return int(nodes / self.sample.launch.part)

    def body(self, name: str, pods: int, priority: Priority | None = None) -> Body:
        """Return a job of so many pods."""
        body = changed(named(self.manifest.body, name), numNodes=pods)
        if priority is None:
            return body
        lowest = self.space.priorities[0].labels
        labels = {
            key: value for key, value in body["metadata"]["labels"].items() if key not in lowest
        }
        return {**body, "metadata": {**body["metadata"], "labels": labels | priority.labels}}


def find_lanes(samples: Iterable[tuple[Sample, Manifest]]) -> list[Lane]:
    """Return the lane of each sample job."""
    return [_lane(sample, manifest) for sample, manifest in samples]


def _lane(sample: Sample, manifest: Manifest) -> Lane:
    launch = sample.launch
    (queue,) = (
        each for each in sample.space.queues if each.node_class == launch.hardware.node_class
    )
    on = (
        flavor
        for flavor in queue.flavors
        if launch.node_selector.items() <= flavor.pool.hardware.labels.items()
    )
    return Lane(sample, manifest, queue, tuple(on))


def by_flavor(lanes: Iterable[Lane]) -> list[Lane]:
    """Return one lane for each flavor of each queue: that of the smallest jobs without steps."""
    found: dict[tuple[str, str], Lane] = {}
    for lane in sorted(
        lanes, key=lambda lane: (bool(lane.sample.launch.runtime.initializers), lane.least)
    ):
        if len(lane.flavors) == 1:
            found.setdefault((lane.queue.name, lane.flavors[0].name), lane)
    return [found[key] for key in sorted(found)]


def rounds(lanes: Sequence[Lane], pods: Callable[[Lane], int]) -> list[list[Lane]]:
    """Return lanes in rounds within which none meets another: one of each queue, and alone who borrows.

    Args:
        lanes: any.
        pods: how many a lane is to have.
    """
    found = [[lane] for lane in lanes if pods(lane) > sum(lane.own)]
    own: dict[str, list[Lane]] = defaultdict(list)
    for lane in lanes:
        if pods(lane) <= sum(lane.own):
            own[lane.queue.name].append(lane)
    return found + [[lane for lane in each if lane] for each in zip_longest(*own.values())]


def split(pods: int, least: int, most: int) -> list[int]:
    """Return sizes of jobs that together have so many pods, or as many as jobs can, the largest first."""
    jobs = -(-pods // most)
    if jobs * least > pods:
        return split(pods - 1, least, most)
    more = pods - jobs * least
    return [least + min(most - least, max(0, more - i * (most - least))) for i in range(jobs)]


@dataclass
class Crowd:
    """Jobs that a check submits to an empty cluster, and that are gone after it."""

    lab: Lab
    jobs: list[Job] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __enter__(self) -> Self:
        """Wait for an empty cluster."""
        self._wait_until_empty()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Delete what is left."""
        for job in self.jobs:
            job.delete()
        if kind is None:
            self._wait_until_empty()

    def add(self, lane: Lane, pods: int, priority: Priority | None = None) -> Job:
        """Submit a job of so many pods.

        Raises:
            Refused: by a role or a policy.
        """
        body = lane.body(f"job-{next(self._numbers)}", pods, priority)
        job = _submit(self.lab, body, lane.space)
        self.jobs.append(job)
        return job

    def fill(self, lane: Lane, pods: Iterable[int], priority: Priority | None = None) -> list[Job]:
        """Submit as few jobs as have so many pods in each flavor, or as many as jobs can.

        Raises:
            Refused: by a role or a policy.
        """
        sizes = (size for each in pods for size in split(each, lane.least, lane.grant.nodes))
        return [self.add(lane, size, priority) for size in sizes]

    def leave(self, job: Job) -> None:
        """Delete a job."""
        job.delete()
        self.jobs.remove(job)

    def _wait_until_empty(self) -> None:
        self.lab.processes.wait_until(
            lambda: is_empty(self.lab), "the end of the jobs before", _PATIENCE
        )


def _submit(lab: Lab, body: Body, space: Space) -> Job:
    """Create a job as its user does; the API server may lose count of a quota for a moment."""
    while True:
        try:
            return submit(lab.api, body, space)
        except Refused as refused:
            if refused.status != _CONFLICT or "resourcequotas" not in str(refused):
                raise


def is_empty(lab: Lab) -> bool:
    """Tell whether no job holds or awaits quota, and no pod of one is left."""
    pods = lab.api.list("v1", "Pod", labels="jobset.sigs.k8s.io/jobset-name")
    return not pods and not lab.api.list(KUEUE, "Workload")


def all_admitted(lab: Lab, jobs: Sequence[Job]) -> bool:
    """Wait until Kueue let every job start; tell whether it did."""
    return lab.processes.waited(lambda: all(job.is_admitted for job in jobs), _PATIENCE)


def told(jobs: Iterable[Job]) -> str:
    """Return what Kueue says of the jobs that wait; empty when none does."""
    waiting = (job for job in jobs if not job.is_admitted)
    return "; ".join(
        f"{job.name} waits: {job.waits_because or 'Kueue says nothing'}" for job in waiting
    )


def seen_by_user(lab: Lab, job: Job, space: Space) -> Job:
    """Return a job as a member of its team sees it."""
    return Job(as_user(lab.api, space), job.namespace, job.name)
