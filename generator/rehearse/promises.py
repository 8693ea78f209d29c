"""Whether queues keep what they promise when they are full, and whether who waits is told why."""

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

Promise = tuple[str, Sequence[tuple[Lane, ...]], Callable[..., Iterator[str]]]
"""Its name; the queues that can show it, or who borrows with who lends; and what tries it and yields what is wrong."""


def check_promises(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Try each promise in every queue that can show it; those that no queue here can show are told.

    Args:
        lab: with the tree applied.
        samples: the jobs that the tree has to copy.
    """
    lanes = [lane for lane in by_flavor(find_lanes(samples)) if split(sum(lane.own), lane.least, lane.grant.nodes)]
    pools = {lane.flavors[0].name: lane for lane in lanes}
    pairs = [(lane, owner) for lane in lanes for owner in lanes if _lends(lab, owner, lane)]
    promises: list[Promise] = [
        ("over quota waits", [(lane,) for lane in lanes], partial(_over_quota, lab)),
        ("job without nodes says so", [(lane,) for lane in pools.values()], partial(_nowhere, lab)),
        (
            "higher priority goes first",
            [(lane,) for lane in lanes if len(lane.space.priorities) > 1],
            partial(_priority, lab),
        ),
        (
            "job fits between others",
            [(lane,) for lane in lanes if _leaves(lane) > 1 and sum(lane.own) >= 4],
            partial(_fragmented, lab),
        ),
        ("owner gets its nodes back", pairs, partial(_reclaim, lab, lanes)),
        ("lending limit holds", [pair for pair in pairs if _keeps(*pair)], partial(_lending, lab, lanes)),
    ]
    missing = ", ".join(promise for promise, able, _ in promises if not able)
    remark = f"no queue of this cluster can show: {missing}" if missing else ""
    for promise, able, tried in promises:
        if able:
            yield _outcome(promise, able, tried, remark)
            remark = ""


def _outcome(
    promise: str, able: Sequence[tuple[Lane, ...]], tried: Callable[..., Iterator[str]], remark: str
) -> Outcome:
    failures = [
        Failure(" with nodes of ".join(lane.name for lane in each), words, each[-1].at)
        for each in able
        for words in tried(*each)
    ]
    return counted(promise, len(able), failures, remark)


def _cohorts(lab: Lab, name: str) -> list[str]:
    """Return a cohort and those above it."""
    parents = {cohort.name: cohort.parent for cohort in lab.plan.site.cluster.cohorts}
    return [name, *_cohorts(lab, parents[name])] if name in parents else []


def _lends(lab: Lab, owner: Lane, borrower: Lane) -> bool:
    """Tell whether one queue's nodes may be lent to another."""
    related = set(_cohorts(lab, owner.queue.team.cohort)) & set(_cohorts(lab, borrower.queue.team.cohort))
    same = owner.flavors[0].name == borrower.flavors[0].name and owner.queue.name != borrower.queue.name
    return bool(related) and same and bool(owner.flavors[0].quota.lent) and bool(borrower.flavors[0].quota.borrowed)


def _keeps(borrower: Lane, owner: Lane) -> bool:
    """Tell whether an owner keeps nodes that the borrower would else take."""
    held = owner.flavors[0].quota
    return held.lent < held.own and _lent(borrower, owner) < sum(borrower.reach) - sum(borrower.own)


def _lent(borrower: Lane, owner: Lane) -> int:
    """Return how many pods of a borrower one owner's nodes hold at most."""
    nodes = min(borrower.flavors[0].quota.borrow, owner.flavors[0].quota.lend)
    return int(nodes / borrower.sample.launch.part)


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


def _evicted(job: Job) -> str:
    """Return why Kueue took a job's nodes away; empty when it did not."""
    found = (each for each in conditions(job.workload) if each["type"] == "Evicted" and each["status"] == "True")
    return next((str(each["message"]) for each in found), "")


def _priority(lab: Lab, lane: Lane) -> Iterator[str]:
    """Fill a queue with jobs of the lowest class; one of the highest evicts some of them, which come back after it."""
    with Crowd(lab) as crowd:
        lowest, *_, highest = lane.space.priorities
        jobs = [
            crowd.add(lane, size, lowest) for each in lane.reach for size in split(each, lane.least, lane.grant.nodes)
        ]
        if not all_admitted(lab, jobs):
            yield f"jobs of {sum(lane.reach)} pods: {told(jobs)}"
            return
        urgent = crowd.add(lane, lane.least, highest)
        yield from _pushed(lab, crowd, jobs, [urgent])


def _pushed(lab: Lab, crowd: Crowd, jobs: Sequence[Job], first: Sequence[Job]) -> Iterator[str]:
    """Look whether jobs make room for others, say why, and come back after them."""
    if not all_admitted(lab, first):
        yield f"nobody makes room: {told(first)}"
        return
    if not any("Preempted" in _evicted(job) for job in jobs):
        yield f"nobody was evicted for {', '.join(job.name for job in first)}"
        return
    for job in first:
        crowd.leave(job)
    if not all_admitted(lab, jobs):
        yield f"evicted jobs do not come back: {told(jobs)}"


def _lend_out(crowd: Crowd, lanes: Sequence[Lane], borrower: Lane, owner: Lane) -> tuple[list[Job], list[Job]]:
    """Fill every queue of the pool but the owner's, and the borrower's with all that the owner lends.

    Returns:
        Jobs of the others, and jobs of the borrower.
    """
    busy = {borrower.queue.name, owner.queue.name}
    pool = owner.flavors[0].name
    others = [lane for lane in lanes if lane.queue.name not in busy and lane.flavors[0].name == pool]
    jobs = [job for lane in others for job in crowd.fill(lane, lane.own)]
    return jobs, crowd.fill(borrower, [sum(borrower.own) + _lent(borrower, owner)])


def _reclaim(lab: Lab, lanes: Sequence[Lane], borrower: Lane, owner: Lane) -> Iterator[str]:
    """Have an owner come back to nodes that it has lent."""
    with Crowd(lab) as crowd:
        others, borrowing = _lend_out(crowd, lanes, borrower, owner)
        if not all_admitted(lab, [*others, *borrowing]):
            yield f"nothing is lent: {told([*others, *borrowing])}"
            return
        yield from _pushed(lab, crowd, borrowing, crowd.fill(owner, owner.own))


def _lending(lab: Lab, lanes: Sequence[Lane], borrower: Lane, owner: Lane) -> Iterator[str]:
    """Take all that an owner lends; one job more waits, though the owner's other nodes are free."""
    with Crowd(lab) as crowd:
        others, borrowing = _lend_out(crowd, lanes, borrower, owner)
        if not all_admitted(lab, [*others, *borrowing]):
            yield f"less is lent: {told([*others, *borrowing])}"
        elif words := _waits(lab, crowd.add(borrower, borrower.least), borrower):
            yield words


def _leaves(lane: Lane) -> int:
    """Return below how many switches the nodes of a queue stand."""
    pool = lane.flavors[0].pool
    return -(-pool.nodes // (pool.fabric.leaf_nodes or pool.nodes)) if pool.fabric else 0


def _fragmented(lab: Lab, lane: Lane) -> Iterator[str]:
    """Fill a queue with small jobs and end every second one; a job of all that is free finds its nodes or says why."""
    with Crowd(lab) as crowd:
        small = [crowd.add(lane, lane.least) for _ in range(sum(lane.reach) // lane.least)]
        if not all_admitted(lab, small):
            yield f"{len(small)} jobs of {lane.least} pods: {told(small)}"
            return
        ended = small[::2]
        for job in ended:
            crowd.leave(job)
        size = min(len(ended) * lane.least, lane.grant.nodes)
        large = crowd.add(lane, size)
        if not lab.processes.waited(lambda: _running(large) == size or "topology" in large.waits_because, _PATIENCE):
            yield f"a job of {size} pods between {len(small) - len(ended)} others: {told([large]) or 'no pods'}"


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
