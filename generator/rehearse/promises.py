"""Whether a job waits when its queue is full or its nodes are closed, is told why, and comes when it can."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from generator.model.manifest import Manifest
from generator.model.space import Sample
from generator.rehearse.api import Body
from generator.rehearse.jobs import Job, conditions
from generator.rehearse.lab import Lab
from generator.rehearse.lanes import Crowd, Lane, all_admitted, by_flavor, find_lanes, seen_by_user, split, told
from generator.rehearse.outcome import Failure, Outcome, counted

_PATIENCE = 60.0
_NOWHERE = "nothing says so"


def check_promises(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Try what waits in every queue, and in every pool what has no nodes.

    Args:
        lab: with the tree applied.
        samples: the jobs that the tree has to copy.
    """
    lanes = [lane for lane in by_flavor(find_lanes(samples)) if split(sum(lane.own), lane.least, lane.grant.nodes)]
    yield _outcome("over quota waits", lanes, partial(_over_quota, lab))
    pools = {lane.flavors[0].name: lane for lane in lanes}
    yield _outcome("job without nodes says so", list(pools.values()), partial(_nowhere, lab))


def _outcome(promise: str, lanes: Sequence[Lane], tried: Callable[[Lane], Iterator[str]]) -> Outcome:
    failures = [Failure(lane.name, words, lane.at) for lane in lanes for words in tried(lane)]
    return counted(promise, len(lanes), failures)


def _over_quota(lab: Lab, lane: Lane) -> Iterator[str]:
    """Fill all that a queue reaches; one job more waits, says why, and comes when another ends."""
    with Crowd(lab) as crowd:
        jobs = crowd.fill(lane, lane.reach)
        if not all_admitted(lab, jobs):
            yield f"jobs of {sum(lane.reach)} pods: {told(jobs)}"
            return
        late = crowd.add(lane, lane.least)
        if words := _waits(lab, late, lane):
            yield words
            return
        crowd.leave(jobs[0])
        if not all_admitted(lab, [late]):
            yield f"does not come when another has ended: {told([late])}"


def _waits(lab: Lab, job: Job, lane: Lane) -> str:
    """Return what is wrong with a job that should wait and say why."""
    seen = seen_by_user(lab, job, lane.space)
    lab.processes.waited(lambda: "insufficient" in seen.waits_because or job.is_admitted, _PATIENCE)
    if job.is_admitted:
        return f"{job.name} is admitted and should wait"
    return "" if "insufficient" in seen.waits_because else f"{job.name} waits: {seen.waits_because or _NOWHERE}"


def _running(job: Job) -> int:
    return sum(pod.phase == "Running" for pod in job.pods)


def _nowhere(lab: Lab, lane: Lane) -> Iterator[str]:
    """Close every node of a queue; a job says so where its user looks, and runs when they open."""
    pool = lane.flavors[0].pool.name
    nodes = [node for node in lab.api.list("v1", "Node") if node["metadata"]["name"].rpartition("-")[0] == pool]
    with Crowd(lab) as crowd:
        try:
            _close(lab, nodes, closed=True)
            job = crowd.add(lane, lane.least)
            seen = seen_by_user(lab, job, lane.space)
            if not lab.processes.waited(lambda: _says_why(seen), _PATIENCE):
                yield f"{_NOWHERE}: {seen.waits_because}"
        finally:
            _close(lab, nodes, closed=False)
        if not lab.processes.waited(lambda: _running(job) == lane.least, _PATIENCE):
            yield f"does not run when nodes are open: {job.waits_because}"


def _close(lab: Lab, nodes: Sequence[Body], *, closed: bool) -> None:
    for node in nodes:
        lab.api.patch(node, {"spec": {"unschedulable": closed or None}})


def _says_why(job: Job) -> bool:
    """Tell whether Kueue or the scheduler says that there are no nodes."""
    pods = (str(each.get("message", "")) for pod in job.pods for each in conditions(pod.body))
    return "topology" in job.waits_because or any("nodes are available" in words for words in pods)
