"""Describe in lines what changes of quota, cohorts and pools."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.change.impact.amounts import (
    CohortChange,
    MaintenanceChange,
    PoolChange,
    QuotaChange,
    Transfer,
)
from trainyard.change.impact.model import ClusterImpact, Rename
from trainyard.cli.impact.costs import payer, pool_costs, quota_costs
from trainyard.model.differences import few
from trainyard.model.quantity import counted
from trainyard.model.team import Quota


def quota_lines(cluster: ClusterImpact) -> Iterator[str]:
    """Yield what changes of teams' quota, of cohorts and of pools."""
    for renamed in cluster.renames:
        yield from _rename(renamed)
    for maintenance in cluster.maintenance:
        yield from _maintenance(maintenance)
    yield from _teams(cluster)
    for change in cluster.payers:
        yield f"~ {payer(change)}"
    for cohort in cluster.cohorts:
        yield f"~ {_cohort(cohort)}"
    for queue in cluster.orders:
        order = f"{', '.join(queue.before)} -> {', '.join(queue.after)}"
        yield f"~ pools of {queue.queue} are tried in the order {order}"
    for pool in cluster.pools:
        yield from _pool(pool)


def _teams(cluster: ClusterImpact) -> Iterator[str]:
    """Yield what changes of each team's quota, and which jobs wait for nodes in maintenance."""
    for transfer in cluster.transfers:
        yield f"~ {_transfer(transfer)}"
    short = {window.pool for window in cluster.maintenance if window.takes_nodes}
    for quota in cluster.quotas:
        yield _quota(quota)
        if quota.pool in short and quota.reach_after < quota.reach_before:
            which = "larger jobs wait" if quota.reach_after else "its jobs wait"
            yield f"  {which} until nodes are back in use"


def _maintenance(change: MaintenanceChange) -> Iterator[str]:
    """Yield which nodes go out of use and until when, which come back, and what queues do."""
    nodes, out = counted(change.nodes, "node"), len(change.out)
    number = f"all {nodes}" if out == change.nodes else f"{out} of {nodes}"
    state = f"{number} out of use" if out else f"all {nodes} in use again"
    yield f"{'!' if change.takes_nodes else '~'} pool {change.pool}: {state}"
    yield from _cordoned(change)
    if change.held:
        yield f"  held, no job starts in them: {few(change.held)}; running jobs stay"
    if change.released:
        yield f"  jobs start again in: {few(change.released)}"


def _cordoned(change: MaintenanceChange) -> Iterator[str]:
    """Yield the nodes, and what somebody does with them by hand."""
    for each in change.after:
        yield f"  {each.display}"
    former = [each for each in change.before if each not in change.after]
    for each in former if change.after else ():
        yield f"  before: {each.display}"
    if change.takes_nodes:
        yield "  Somebody must cordon them: until then the scheduler still uses them."
    if change.back:
        yield f"  back in use: {', '.join(change.back)}"
        yield "  Uncordon them before the merge: Kueue promises them at once."


def _rename(renamed: Rename) -> Iterator[str]:
    yield f"~ team {renamed.before} is now called {renamed.after}"
    yield f"  its folder `{renamed.folder}`, numbers and user ids stay those of the same team"
    yield f"  the same roles under the new name: {few(renamed.kept) or 'nobody'}"


def _transfer(transfer: Transfer) -> str:
    moved = ", ".join(
        f"{team} {_nodes(before)} -> {_nodes(after)}"
        for team, before, after in (*transfer.givers, *transfer.takers)
    )
    return f"transfer of nodes of {transfer.pool}: {moved}"


def _quota(change: QuotaChange) -> str:
    name = f"{change.team} on {change.pool}"
    costs = [*quota_costs(change)]
    if change.before is None and change.after is not None:
        reach = change.after.display(change.reach_after)
        return f"+ {name}: {', '.join([_size(change.after), *costs])}, largest job {reach}"
    if change.after is None and change.before is not None:
        return f"- {name}: {', '.join([_size(change.before), *costs])}"
    assert change.before is not None
    assert change.after is not None
    differences = [*_differences(change, change.before, change.after), *costs]
    return f"~ {name}: {', '.join(differences)}"


def _size(quota: Quota) -> str:
    parts = [quota.display(quota.nodes)]
    parts += [f"borrows {quota.display(quota.borrow)}"] if quota.borrow else []
    parts += [f"lends {quota.display(quota.lend)}"] if quota.lend else []
    parts += [_term(quota)] if quota.term else []
    return ", ".join(parts)


def _term(quota: Quota) -> str:
    """Return until when a quota holds, and what falls back to the pool then."""
    if quota.term is None:
        return "without a last day"
    back = quota.display(quota.nodes - quota.term.nodes)
    return f"{quota.ending} and {back} back in the pool"


def _differences(change: QuotaChange, before: Quota, after: Quota) -> Iterator[str]:
    yield from _amounts(before, after)
    yield from _resources(change, stays=before.nodes == after.nodes, share=after.is_share)
    if change.reach_before != change.reach_after:
        yield f"largest job {_step(before, change.reach_before, after, change.reach_after)}"
    if before.term != after.term:
        yield _term(after)
        if before.term:
            yield f"before {before.ending}"


def _resources(change: QuotaChange, *, stays: bool, share: bool) -> Iterator[str]:
    """Yield a team's devices, and what the nodes that it keeps have more or less of."""
    for each in change.resources:
        if "/" in each.resource and (stays or not share):
            noun = "GPU" if each.resource.endswith("/gpu") else each.resource
            yield f"{each.before} -> {counted(each.after, noun)}"
        elif stays:
            yield each.display


def _amounts(before: Quota, after: Quota) -> Iterator[str]:
    for verb, old, new in (
        ("", before.nodes, after.nodes),
        ("borrows ", before.borrow, after.borrow),
        ("lends ", before.lend, after.lend),
    ):
        if before.display(old) != after.display(new):
            yield f"{verb}{_step(before, old, after, new)}"
    if before.unit is after.unit and before.per_node != after.per_node:
        yield f"a node has {_step(before, Fraction(1), after, Fraction(1))}"


def _step(before: Quota, old: Fraction, after: Quota, new: Fraction) -> str:
    """Return nodes of both quotas, each with its unit where they have different ones."""
    same = before.unit is after.unit
    return f"{before.units(old) if same else before.display(old)} -> {after.display(new)}"


def _cohort(change: CohortChange) -> str:
    cohorts = (" below ".join(each) or "none" for each in (change.before, change.after))
    peers = [few(each) or "nobody" for each in (change.peers_before, change.peers_after)]
    shown = f"the same teams ({peers[0]})" if peers[0] == peers[1] else " -> ".join(peers)
    return f"cohort of {change.team}: {' -> '.join(cohorts)}; lends to and borrows from {shown}"


def _pool(pool: PoolChange) -> Iterator[str]:
    """Yield what changes of a pool, and whether jobs can still start on it."""
    if changes := ", ".join(_numbers(pool)):
        yield f"~ pool {pool.pool}: {changes}"
    if pool.node:
        yield f"~ a node of pool {pool.pool} has {', '.join(each.display for each in pool.node)}"
    if pool.is_emptied:
        yield f"! no job can start on pool {pool.pool} any more: no team has nodes of it"


def _numbers(pool: PoolChange) -> Iterator[str]:
    """Yield each number of a pool that changes."""
    before, after = pool.before, pool.after
    old_room, new_room = (int(each.room * pool.per_node) for each in (before, after))
    yield from _change("", before.nodes, after.nodes, "node")
    yield from _change("reserve ", before.reserve, after.reserve, "node")
    if before.reserve != after.reserve or before.nodes == after.nodes:
        yield from _change("promised ", before.promised, after.promised, "node")
    yield from _change("head-room ", old_room, new_room, pool.unit.noun)
    yield from pool_costs(before, after)


def _change(name: str, before: int, after: int, unit: str) -> Iterator[str]:
    if before != after:
        yield f"{name}{before} -> {counted(after, unit)}"


def _nodes(number: Fraction) -> str:
    return f"{float(number):g}"
