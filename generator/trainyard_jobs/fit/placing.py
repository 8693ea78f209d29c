"""Nodes for the pods of a job: on the empty cluster, and beside what runs now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.model.lookup import mapping, value_at
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted, format_amount
from trainyard_jobs.fit.assignment import (
    Choice,
    Queueing,
    Shortage,
    missing_nodes,
    placements,
    requests_of,
    shortages_of,
)
from trainyard_jobs.fit.case import Case
from trainyard_jobs.fit.nodes import Placement, room, unplaced
from trainyard_jobs.fit.preemption import Preemptor, victims
from trainyard_jobs.fit.quotas import WAIT, quota_checks
from trainyard_jobs.fit.usage import Running
from trainyard_jobs.fit.verdict import Check, Link, Standing

_PRIORITY = "kueue.x-k8s.io/priority-class"


def node_checks(queueing: Queueing, choices: Sequence[Choice]) -> Iterator[Check]:
    """Yield pods that are larger than a node, or more than all nodes have room for."""
    for flavor in sorted({choice.flavor for choice in choices}):
        pool, wanted = queueing.flavors[flavor], placements(choices, flavor)
        larger = [*_larger(pool, flavor, wanted)]
        yield from larger
        if not larger and (left := unplaced(queueing.empty(flavor), wanted)):
            nodes, pods = counted(pool.nodes, "node"), counted(left, "pod")
            message = f"{flavor} has {nodes}, without room for {pods}"
            yield Check(Link.TOPOLOGY, Standing.NEVER, message, pool.at, limit=str(pool.nodes))


def _larger(pool: Pool, flavor: str, wanted: Sequence[Placement]) -> Iterator[Check]:
    """Yield the first pod that does not fit an empty node."""
    for placement in wanted:
        requests, had = placement.requests, pool.allocatable
        if room(had, {**requests, "pods": 1}):
            continue
        name = next(name for name, amount in requests.items() if amount > had.get(name, 0))
        limit = format_amount(name, had.get(name, 0))
        asked = format_amount(name, requests[name])
        message = f"a pod requests {asked} {name}, and a node of {flavor} has {limit}"
        yield Check(Link.NODES, Standing.NEVER, message, pool.hardware.at, limit=limit)
        return


def _unknown(case: Case, queueing: Queueing, choices: Sequence[Choice]) -> Iterator[Check]:
    """Yield the queues whose quota a job can use, and whose usage a snapshot does not show."""
    if case.ground.snapshot is None:
        return
    wanted = requests_of(choices)
    for queue in queueing.cohorts.sharing(queueing.queue):
        if queue in queueing.snapshot.queues or not wanted.keys() & queueing.cohorts.limits[queue]:
            continue
        message = f"the snapshot has no ClusterQueue {queue.partition('/')[2]} with a status"
        yield Check(Link.QUOTA, Standing.UNJUDGED, message)


def present_checks(case: Case, queueing: Queueing, choices: Sequence[Choice]) -> Iterator[Check]:
    """Yield what a job that fits the empty cluster waits for, or which jobs Kueue evicts for it."""
    unknown = [*_unknown(case, queueing, choices)]
    yield from unknown or _present(case, queueing, choices)


def _present(case: Case, queueing: Queueing, choices: Sequence[Choice]) -> Iterator[Check]:
    short = shortages_of(choices)
    missing = missing_nodes(queueing, choices)
    if not short and not any(missing.values()):
        return
    evicted = _evicted(case, queueing, choices, short)
    if evicted is None:
        yield from quota_checks(case, queueing, choices, short, Standing.WAITS)
        yield from _without_node(queueing, missing)
        yield from _unpredicted(case, queueing)
    else:
        names = ", ".join(sorted(victim.job for victim in evicted))
        message = f"Kueue evicts {counted(len(evicted), 'job')} for it: {names}"
        yield Check(Link.QUOTA, Standing.ADMITTED, message)


def _without_node(queueing: Queueing, missing: dict[str, int]) -> Iterator[Check]:
    for flavor, left in missing.items():
        if left:
            pool = queueing.flavors[flavor]
            message = f"{flavor} has no free node for {counted(left, 'pod')} now"
            nodes, ways = str(pool.nodes), (WAIT,)
            yield Check(Link.TOPOLOGY, Standing.WAITS, message, pool.at, limit=nodes, repair=ways)


def _unpredicted(case: Case, queueing: Queueing) -> Iterator[Check]:
    """Yield why a job that waits might evict others after all."""
    reason = ""
    if _shares_fairly(case):
        reason = "it is predicted for clusters with `sharing: classical` only"
    elif not queueing.snapshot.has_jobs:
        reason = "the snapshot has no Workloads"
    if reason:
        message = f"whether Kueue evicts running jobs for this one: {reason}"
        yield Check(Link.QUOTA, Standing.UNJUDGED, message)


def _shares_fairly(case: Case) -> bool:
    return case.ground.site.cluster.sharing == "fair"


def _evicted(
    case: Case, queueing: Queueing, choices: Sequence[Choice], short: Sequence[Shortage]
) -> list[Running] | None:
    """Return the jobs that are evicted for a job; None when none is, or that is not known."""
    if _shares_fairly(case):
        return None
    requests = requests_of(choices)
    scarce = frozenset(shortage.amount for shortage in short)

    def fits(evicted: Sequence[Running]) -> bool:
        return not any(missing_nodes(queueing, choices, evicted).values())

    lacking = scarce or frozenset(requests)
    job = Preemptor(queueing.queue, _priority(case), requests, scarce, lacking, fits)
    return victims(queueing.cohorts, job, queueing.snapshot.running)


def _priority(case: Case) -> int:
    name = mapping(case.body, "metadata", "labels").get(_PRIORITY)
    priority_class = case.ground.objects.find("WorkloadPriorityClass", str(name)) if name else None
    return int(value_at(priority_class.body, "value") or 0) if priority_class else 0
