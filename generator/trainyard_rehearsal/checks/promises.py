"""Whether queues keep what they promise when they are full, and whether who waits is told why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.jobs import Job, conditions
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
from trainyard_rehearsal.checks.lending import Lending, Pair
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_PATIENCE = 120.0
_NOWHERE = "nothing says so"


def check_promises(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Try each promise in every queue that can show it; those that no queue here can show are told.

    Args:
        lab: with the tree applied.
        samples: the jobs that the tree has to copy.
        teams: names of those that are tried.
    """
    lanes = [lane for lane in by_flavor(find_lanes(samples)) if lane.filled(sum(lane.own))]
    promises = list(_promises(lab, lanes, teams))
    missing = ", ".join(promise for promise, able, _ in promises if not able)
    remark = f"no queue of this cluster can show: {missing}" if missing else ""
    for promise, able, failures in promises:
        if able:
            yield counted(promise, able, list(failures), remark)
            remark = ""


def _promises(
    lab: Lab, every: Sequence[Lane], teams: Collection[str]
) -> Iterator[tuple[str, int, Iterator[Failure]]]:
    """Yield each promise, how many can show it, and what does not hold, which is tried when it is asked for."""

    def tried(
        check: Callable[[Lab, list[Lane]], Iterator[Failure]], able: list[Lane]
    ) -> Iterator[Failure]:
        return (
            failure
            for each in rounds(able, lambda lane: sum(lane.maximum))
            for failure in check(lab, each)
        )

    lanes = [lane for lane in every if lane.space.team.name in teams]
    yield "over quota waits", len(lanes), tried(_over_quota, list(lanes))
    pools = {lane.flavors[0].name: lane for lane in lanes}.values()
    yield (
        "job without nodes says so",
        len(pools),
        (each for lane in pools for each in _nowhere(lab, lane)),
    )
    ranked = [lane for lane in lanes if len(lane.space.priorities) > 1]
    yield "higher priority goes first", len(ranked), tried(_priority, ranked)
    wide = [lane for lane in lanes if _leaves(lane) > 1 and sum(lane.own) >= 4]
    yield (
        "job fits between others",
        len(wide),
        (each for lane in wide for each in _fragmented(lab, lane)),
    )
    pairs = [pair for pair in Lending(lab.plan.site, every).pairs() if _is_of(pair, teams)]
    pressed = [pair for pair in pairs if pair.is_pressed]
    held = [pair for pair in pairs if pair.is_limited]
    if len(lanes) < len(every):
        pressed, held = _one_of_each(pressed), _one_of_each(held)
    yield "owner gets its nodes back", len(pressed), _between(_reclaim, lab, every, pressed)
    yield "lending limit holds", len(held), _between(_lending, lab, every, held)


def _is_of(pair: Pair, teams: Collection[str]) -> bool:
    return {pair.borrower.space.team.name, pair.owner.space.team.name} <= set(teams)


def _one_of_each(pairs: Sequence[Pair]) -> list[Pair]:
    """Return pairs in which each borrower and each owner is at least once."""
    borrowers: set[str] = set()
    owners: set[str] = set()
    found = []
    for pair in pairs:
        if pair.borrower.name not in borrowers or pair.owner.name not in owners:
            borrowers.add(pair.borrower.name)
            owners.add(pair.owner.name)
            found.append(pair)
    return found


def _between(
    check: Callable[[Lab, Sequence[Lane], Pair], Iterator[Failure]],
    lab: Lab,
    lanes: Sequence[Lane],
    pairs: Sequence[Pair],
) -> Iterator[Failure]:
    """Try something with each borrower and owner; name both, for an owner lends to several."""
    for pair in pairs:
        what = f"ClusterQueue {pair.borrower.queue.name} with nodes of {pair.owner.queue.name}"
        yield from (replace(failure, what=what) for failure in check(lab, lanes, pair))


def _wrong(lane: Lane, words: str) -> Iterator[Failure]:
    if words:
        yield Failure(lane.name, words, lane.at)


def _over_quota(lab: Lab, lanes: Sequence[Lane]) -> Iterator[Failure]:
    """Fill all that queues reach; one job more waits, says why, and comes when another ends."""
    with Crowd(lab) as crowd:
        full = [(lane, crowd.fill(lane, lane.maximum)) for lane in lanes]
        all_admitted(lab, [job for _, jobs in full for job in jobs])
        late = [(lane, jobs, crowd.add(lane, lane.least)) for lane, jobs in full]
        for lane, jobs, job in late:
            yield from _wrong(lane, told(jobs) or _waits(lab, job, lane))
        for _, jobs, _ in late:
            crowd.leave(jobs[0])
        all_admitted(lab, [job for *_, job in late])
        for lane, _, job in late:
            yield from _wrong(lane, _if_any("does not come when another has ended", told([job])))


def _if_any(what: str, words: str) -> str:
    return f"{what}: {words}" if words else ""


def _waits(lab: Lab, job: Job, lane: Lane) -> str:
    """Return what is wrong with a job that should wait and say why."""
    seen = seen_by_user(lab, job, lane.space)
    lab.processes.waited(lambda: "insufficient" in seen.waits_because or job.is_admitted, _PATIENCE)
    if job.is_admitted:
        return f"{job.name} is admitted and should wait"
    return (
        ""
        if "insufficient" in seen.waits_because
        else f"{job.name} waits: {seen.waits_because or _NOWHERE}"
    )


def _is_preempted(job: Job) -> bool:
    """Tell whether Kueue took a job's nodes away for another."""
    found = (
        each
        for each in conditions(job.workload)
        if each["type"] == "Evicted" and each["status"] == "True"
    )
    return any("Preempted" in str(each["message"]) for each in found)


def _priority(lab: Lab, lanes: Sequence[Lane]) -> Iterator[Failure]:
    """Fill queues with jobs of the lowest class; one of the highest evicts some of them, which come back after it."""
    with Crowd(lab) as crowd:
        full = [(lane, crowd.fill(lane, lane.maximum, lane.space.priorities[0])) for lane in lanes]
        all_admitted(lab, [job for _, jobs in full for job in jobs])
        for lane, jobs in full:
            yield from _wrong(lane, told(jobs))
        urgent = [
            (lane, jobs, [crowd.add(lane, lane.least, lane.space.priorities[-1])])
            for lane, jobs in full
        ]
        yield from _pushed(lab, crowd, urgent)


def _pushed(
    lab: Lab, crowd: Crowd, pushes: Sequence[tuple[Lane, Sequence[Job], Sequence[Job]]]
) -> Iterator[Failure]:
    """Look whether in each queue the jobs make room for those that come first, say why, and come back after them."""
    all_admitted(lab, [job for *_, first in pushes for job in first])
    for lane, jobs, first in pushes:
        if not (words := _if_any("nobody makes room", told(first))) and not any(
            map(_is_preempted, jobs)
        ):
            words = f"nobody was evicted for {', '.join(job.name for job in first)}"
        yield from _wrong(lane, words)
    for job in (job for *_, first in pushes for job in first):
        crowd.leave(job)
    all_admitted(lab, [job for _, jobs, _ in pushes for job in jobs])
    for lane, jobs, _ in pushes:
        yield from _wrong(lane, _if_any("evicted jobs do not come back", told(jobs)))


def _lend_out(crowd: Crowd, lanes: Sequence[Lane], pair: Pair) -> tuple[list[Job], list[Job]]:
    """Fill every queue of the pool but the owner's, and the borrower's with all that the owner lends.

    Returns:
        Jobs of the others, and jobs of the borrower.
    """
    busy = {pair.borrower.queue.name, pair.owner.queue.name}
    pool = pair.owner.flavors[0].name
    others = [
        lane for lane in lanes if lane.queue.name not in busy and lane.flavors[0].name == pool
    ]
    jobs = [job for lane in others for job in crowd.fill(lane, lane.own)]
    return jobs, crowd.fill(pair.borrower, [sum(pair.borrower.own) + pair.lent])


def _reclaim(lab: Lab, lanes: Sequence[Lane], pair: Pair) -> Iterator[Failure]:
    """Have an owner come back to nodes that it has lent."""
    with Crowd(lab) as crowd:
        others, borrowing = _lend_out(crowd, lanes, pair)
        all_admitted(lab, [*others, *borrowing])
        yield from _wrong(pair.owner, _if_any("nothing is lent", told([*others, *borrowing])))
        yield from _pushed(
            lab, crowd, [(pair.owner, borrowing, crowd.fill(pair.owner, pair.owner.own))]
        )


def _lending(lab: Lab, lanes: Sequence[Lane], pair: Pair) -> Iterator[Failure]:
    """Take all that an owner lends; one job more waits, though the owner's other nodes are free."""
    with Crowd(lab) as crowd:
        others, borrowing = _lend_out(crowd, lanes, pair)
        all_admitted(lab, [*others, *borrowing])
        yield from _wrong(pair.owner, _if_any("less is lent", told([*others, *borrowing])))
        yield from _wrong(
            pair.owner, _waits(lab, crowd.add(pair.borrower, pair.borrower.least), pair.borrower)
        )


def _leaves(lane: Lane) -> int:
    """Return below how many switches the nodes of a queue stand."""
    pool = lane.flavors[0].pool
    return -(-pool.nodes // (pool.fabric.leaf_nodes or pool.nodes)) if pool.fabric else 0


def _fragmented(lab: Lab, lane: Lane) -> Iterator[Failure]:
    """Fill a queue with small jobs and end every second one; a job of all that is free finds its nodes or says why."""
    with Crowd(lab) as crowd:
        small = [crowd.add(lane, lane.least) for _ in range(sum(lane.maximum) // lane.least)]
        all_admitted(lab, small)
        yield from _wrong(lane, _if_any(f"{len(small)} jobs of {lane.least} pods", told(small)))
        ended = small[::2]
        for job in ended:
            crowd.leave(job)
        size = min(len(ended) * lane.least, lane.grant.nodes)
        large = crowd.add(lane, size)
        if not lab.processes.waited(
            lambda: _running(large) == size or "topology" in large.waits_because, _PATIENCE
        ):
            what = f"a job of {size} pods between {len(small) - len(ended)} others"
            yield from _wrong(lane, f"{what}: {told([large]) or 'no pods'}")


def _running(job: Job) -> int:
    return sum(pod.phase == "Running" for pod in job.pods)


def _nowhere(lab: Lab, lane: Lane) -> Iterator[Failure]:
    """Close every node of a queue; a job says so where its user looks, and runs when they open."""
    pool = lane.flavors[0].pool.name
    nodes = [
        node
        for node in lab.api.list("v1", "Node")
        if node["metadata"]["name"].rpartition("-")[0] == pool
    ]
    with Crowd(lab) as crowd:
        try:
            _close(lab, nodes, closed=True)
            job = crowd.add(lane, lane.least)
            seen = seen_by_user(lab, job, lane.space)
            if not lab.processes.waited(lambda: _says_why(seen), _PATIENCE):
                yield from _wrong(lane, f"{_NOWHERE}: {seen.waits_because}")
        finally:
            _close(lab, nodes, closed=False)
        if not lab.processes.waited(lambda: _running(job) == lane.least, _PATIENCE):
            yield from _wrong(lane, f"does not run when nodes are open: {job.waits_because}")


def _close(lab: Lab, nodes: Sequence[Body], *, closed: bool) -> None:
    for node in nodes:
        lab.api.patch(node, {"spec": {"unschedulable": closed or None}})


def _says_why(job: Job) -> bool:
    """Tell whether Kueue or the scheduler says that there are no nodes."""
    pods = (str(each.get("message", "")) for pod in job.pods for each in conditions(pod.body))
    return "topology" in job.waits_because or any("nodes are available" in words for words in pods)
