"""Whether quotas are what was computed: the largest job fits, one pod more does not, and nobody counts otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from trainyard.model.manifest import Manifest
from trainyard.model.quantity import format_amount
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.jobs import KUEUE, Job, as_user
from trainyard_rehearsal.checks.lanes import (
    Crowd,
    Lane,
    all_admitted,
    by_flavor,
    find_lanes,
    rounds,
    seen_by_user,
    told,
)
from trainyard_rehearsal.control_plane.api import Refused, as_applied
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_PATIENCE = 120.0
_BINDING = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding")


def check_ledger(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Try each runtime of each namespace at its limit and beyond, then each queue with and without borrowing.

    Args:
        lab: with the tree applied.
        samples: the jobs that the tree has to copy.
        teams: names of those that are tried; the quotas of all are filled together.
    """
    every = find_lanes(samples)
    lanes = [lane for lane in every if lane.space.team.name in teams]
    together = rounds(lanes, lambda lane: lane.grant.nodes)
    yield counted(
        "largest jobs admitted",
        len(lanes),
        [each for some in together for each in _largest(lab, some)],
    )
    yield counted(
        "one node more refused",
        len(lanes),
        [each for lane in lanes for each in _one_more(lab, lane)],
    )
    yield counted("quota holds without policy", len(lanes), _beyond(lab, lanes))
    if queues := [lane for lane in by_flavor(every) if lane.filled(sum(lane.own))]:
        yield counted(
            "own quotas filled",
            len(queues),
            list(_fill(lab, [(lane, lane.own) for lane in queues])),
        )
    if borrowers := [
        lane for lane in by_flavor(lanes) if lane.filled(sum(lane.maximum)) > sum(lane.own)
    ]:
        failures = [each for lane in borrowers for each in _fill(lab, [(lane, lane.maximum)])]
        yield counted("borrowed quotas filled", len(borrowers), failures)


def _largest(lab: Lab, lanes: Sequence[Lane]) -> Iterator[Failure]:
    with Crowd(lab) as crowd:
        jobs = [(lane, crowd.add(lane, lane.grant.nodes)) for lane in lanes]
        all_admitted(lab, [job for _, job in jobs])
        for lane, job in jobs:
            if words := told([job]):
                yield Failure(_what(lane), f"a job of {lane.grant.nodes} nodes: {words}", lane.at)


def _what(lane: Lane) -> str:
    return f"{lane.space.namespace}, {lane.sample.launch.name}"


def _one_more(lab: Lab, lane: Lane) -> Iterator[Failure]:
    words = _refusal(lab, lane, lane.grant.nodes + 1)
    if f"to {lane.grant.nodes} nodes" not in words:
        why = words or "taken"
        yield Failure(_what(lane), f"a job of {lane.grant.nodes + 1} nodes: {why}", lane.at)


def _refusal(lab: Lab, lane: Lane, pods: int) -> str:
    """Return what the API server says to a job, in a dry run; empty when it takes it."""
    try:
        as_user(lab.api, lane.space).create(lane.body("one-more", pods), dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def _beyond(lab: Lab, lanes: Sequence[Lane]) -> list[Failure]:
    """Submit jobs that no policy stops and no quota holds."""
    with _without_policy(lab, lanes), Crowd(lab) as crowd:
        jobs = [
            (lane, seen_by_user(lab, crowd.add(lane, sum(lane.maximum) + 1), lane.space))
            for lane in lanes
        ]
        lab.processes.waited(lambda: all(_is_beyond(lane, job) for lane, job in jobs), _PATIENCE)
        return [
            Failure(
                _what(lane),
                f"{sum(lane.maximum) + 1} pods: {job.waits_because or 'Kueue says nothing'}",
                lane.at,
            )
            for lane, job in jobs
            if job.is_admitted or not _is_beyond(lane, job)
        ]


def _is_beyond(lane: Lane, job: Job) -> bool:
    """Tell whether Kueue says that no quota holds a job; of several flavors it may tell the last that it tried only."""
    words = job.waits_because
    other = (
        len(lane.queue.flavors) > 1
        and "doesn't match node affinity" in words
        and "topology" not in words
    )
    return "maximum capacity" in words or other


@contextmanager
def _without_policy(lab: Lab, lanes: Sequence[Lane]) -> Iterator[None]:
    """Take away what limits TrainJobs in the namespaces, and put it back, in force."""
    names = sorted(
        {name for lane in lanes for name in (lane.space.limits_name, lane.space.help_name)}
    )
    bindings = [as_applied(lab.api.get(*_BINDING, name)) for name in names]
    free = partial(_is_free, lab, lanes)
    try:
        for body in bindings:
            lab.api.delete(body)
        lab.processes.wait_until(
            lambda: all(free()), "the end of the limits on TrainJobs", _PATIENCE
        )
        yield
    finally:
        for body in bindings:
            lab.api.apply(body)
        lab.processes.wait_until(
            lambda: not any(free()), "the return of the limits on TrainJobs", _PATIENCE
        )


def _is_free(lab: Lab, lanes: Sequence[Lane]) -> list[bool]:
    """Tell of each namespace whether a job beyond its limit would be taken."""
    spaces = {lane.space.namespace: lane for lane in lanes}
    return [not _refusal(lab, lane, sum(lane.maximum) + 1) for lane in spaces.values()]


def _fill(lab: Lab, amounts: Sequence[tuple[Lane, tuple[int, ...]]]) -> Iterator[Failure]:
    """Fill queues with so many pods in each flavor, all at once, and compare what they then borrow."""
    with Crowd(lab) as crowd:
        filled = [
            (lane, sum(map(lane.filled, pods)), crowd.fill(lane, pods)) for lane, pods in amounts
        ]
        all_admitted(lab, [job for *_, jobs in filled for job in jobs])
        for lane, pods, jobs in filled:
            if words := told(jobs):
                yield Failure(lane.name, f"jobs of {pods} pods: {words}", lane.at)
                continue
            expected = _borrowing(lane, pods)
            if not lab.processes.waited(partial(_borrows, lab, lane, expected), _PATIENCE):
                yield Failure(
                    lane.name,
                    f"borrows {_borrowed(lab, lane)} with {pods} pods, not {expected}",
                    lane.at,
                )


def _borrowing(lane: Lane, pods: int) -> str:
    """Return what so many pods take beyond their own quota, of what its nodes are wanted for."""
    name = _counted(lane)
    (flavor,) = lane.flavors
    own = int(flavor.quota.nodes * flavor.pool.allocatable[name])
    return format_amount(name, max(0, lane.sample.launch.per_node[name] * pods - own))


def _counted(lane: Lane) -> str:
    gpu = lane.sample.launch.hardware.gpu
    return gpu.resource if gpu else "cpu"


def _borrows(lab: Lab, lane: Lane, expected: str) -> bool:
    return _borrowed(lab, lane) == expected


def _borrowed(lab: Lab, lane: Lane) -> str:
    status = lab.api.get(KUEUE, "ClusterQueue", lane.queue.name).get("status") or {}
    amounts = {
        (flavor["name"], resource["name"]): resource.get("borrowed", "0")
        for flavor in status.get("flavorsUsage", [])
        for resource in flavor["resources"]
    }
    return str(amounts.get((lane.flavors[0].name, _counted(lane)), "0"))
