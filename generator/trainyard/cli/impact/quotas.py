"""Describe in lines what changes of quota, cohorts and pools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction

from trainyard.change.impact.access import Rename
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.pools import CohortChange, MaintenanceChange, PoolChange
from trainyard.change.impact.quotas import QuotaChange, Transfer
from trainyard.cli.impact.costs import payer, pool_costs, quota_costs
from trainyard.cli.impact.marks import Names
from trainyard.model.differences import few
from trainyard.model.quantity import counted
from trainyard.model.team import Quota

_FEW = 3
"""Teams whose equal changes have a line each; those of more have one together."""


def quota_lines(cluster: ClusterImpact, names: Names = few) -> Iterator[str]:
    """Yield what changes of teams' quota, of cohorts and of pools."""
    for renamed in cluster.renames:
        yield from _rename(renamed)
    yield from _stops(cluster, names)
    for maintenance in cluster.maintenance:
        yield from _maintenance(maintenance)
    yield from _teams(cluster, names)
    for change in cluster.payers:
        yield f"~ {payer(change)}"
    for cohort in cluster.cohorts:
        yield f"~ {_cohort(cohort)}"
    for queue in cluster.orders:
        order = f"{', '.join(queue.before)} -> {', '.join(queue.after)}"
        yield f"~ pools of {queue.queue} are tried in the order {order}"
    for pool in cluster.pools:
        yield from _pool(pool)


def _teams(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    """Yield what changes of each team's quota, and which jobs wait for nodes in maintenance."""
    for transfer in cluster.transfers:
        yield f"~ {_transfer(transfer)}"
    short = {window.pool for window in cluster.maintenance if window.takes_nodes}
    told = {(quota.team, quota.pool): _quota(quota, short) for quota in cluster.quotas}
    yield from _together(told, names)


def _together(told: Mapping[tuple[str, str], tuple[str, ...]], names: Names) -> Iterator[str]:
    """Yield the lines of each team and pool, the same ones of more than a few teams once."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for (team, _), lines in told.items():
        alike[lines].append(team)
    for (team, _), lines in told.items():
        teams = alike[lines] if len(alike[lines]) > _FEW else [team]
        if team == teams[0]:
            mark, first, *rest = lines
            yield from (f"{mark} {names(teams)} {first}", *rest)


_STOPPED = {
    "held": "no job starts in them; running jobs go on",
    "draining": "their jobs are evicted and wait, and none starts",
    "active": "jobs that wait in them start",
}
"""State of queues -> what becomes of jobs."""


def _stops(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    """Yield the queues that are stopped or opened, those of one cause together."""
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for change in cluster.stops:
        alike[change.after, change.cause].append(change.queue)
    for (word, cause), queues in alike.items():
        if word == "active":
            yield f"~ active again: {names(queues)}; before, {cause}"
        else:
            yield f"! {word}: {names(queues)}; {cause}"
        yield f"  {_STOPPED[word]}"


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
    for window in change.after:
        yield f"  {window.display}"
    for window in change.before if change.after else ():
        if window not in change.after:
            yield f"  before: {window.display}"
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
    moves = []
    for team, before, after in (*transfer.givers, *transfer.takers):
        moves.append(f"{team} {float(before):g} -> {float(after):g}")
    return f"transfer of nodes of {transfer.pool}: {', '.join(moves)}"


def _quota(change: QuotaChange, short: set[str]) -> tuple[str, ...]:
    """Return the mark of a team's line, what follows its name, and the lines below.

    Args:
        change: of its quota.
        short: pools that lose nodes to maintenance.
    """
    mark, what = _own(change)
    first = f"on {change.pool}: {', '.join((*what, *quota_costs(change)))}"
    if change.before is None and change.after is not None:
        first += f", largest job {change.after.display(change.reach_after)}"
    if change.pool not in short or change.reach_after >= change.reach_before:
        return mark, first
    which = "larger jobs wait" if change.reach_after else "its jobs wait"
    return mark, first, f"  {which} until nodes are back in use"


def _own(change: QuotaChange) -> tuple[str, Iterator[str]]:
    """Return the mark of a quota that comes, goes or differs, and what it has or what differs."""
    if change.before and change.after:
        return "~", _differences(change, change.before, change.after)
    quota = change.after or change.before
    assert quota is not None
    return "+" if change.after else "-", _size(quota)


def _size(quota: Quota) -> Iterator[str]:
    yield quota.display(quota.nodes)
    if quota.borrow:
        yield f"borrows {quota.display(quota.borrow)}"
    if quota.lend:
        yield f"lends {quota.display(quota.lend)}"
    if quota.term:
        yield _term(quota)


def _term(quota: Quota) -> str:
    """Return until when a quota holds, and what falls back to the pool then."""
    if quota.term is None:
        return "without a last day"
    back = quota.display(quota.nodes - quota.term.nodes)
    return f"{quota.ending} and {back} back in the pool"


def _differences(change: QuotaChange, before: Quota, after: Quota) -> Iterator[str]:
    yield from _amounts(before, after)
    yield from _resources(change, stays=before.nodes == after.nodes, share=after.is_share)
    if before.display(change.reach_before) != after.display(change.reach_after):
        yield f"largest job {_step(before, change.reach_before, after, change.reach_after)}"
    if before.term != after.term:
        yield _term(after)
        if before.term:
            yield f"before {before.ending}"


def _resources(change: QuotaChange, *, stays: bool, share: bool) -> Iterator[str]:
    """Yield a team's devices, and what the nodes that it keeps have more or less of."""
    for resource in change.resources:
        if "/" in resource.resource and (stays or not share):
            noun = "GPU" if resource.resource.endswith("/gpu") else resource.resource
            yield f"{resource.before} -> {counted(resource.after, noun)}"
        elif stays:
            yield resource.display


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
    cohorts = f"{_lineage(change.before)} -> {_lineage(change.after)}"
    before, after = few(change.peers_before) or "nobody", few(change.peers_after) or "nobody"
    shown = f"the same teams ({before})" if before == after else f"{before} -> {after}"
    return f"cohort of {change.team}: {cohorts}; lends to and borrows from {shown}"


def _lineage(cohorts: tuple[str, ...]) -> str:
    return " below ".join(cohorts) or "none"


def _pool(pool: PoolChange) -> Iterator[str]:
    """Yield what changes of a pool, and whether jobs can still start on it."""
    if not pool.after.nodes:
        costs = pool_costs(pool.before, pool.after)
        gone = ", ".join([counted(pool.before.nodes, "node"), *costs])
        yield f"- pool {pool.pool}: {gone}; it is removed"
        return
    if changes := ", ".join(_numbers(pool)):
        yield f"~ pool {pool.pool}: {changes}"
    if pool.node:
        resources = ", ".join(resource.display for resource in pool.node)
        yield f"~ a node of pool {pool.pool} has {resources}"
    if pool.is_emptied:
        yield f"! no job can start on pool {pool.pool} any more: no team has nodes of it"


def _numbers(pool: PoolChange) -> Iterator[str]:
    """Yield each number of a pool that changes."""
    before, after = pool.before, pool.after
    old_room, new_room = int(before.room * pool.per_node), int(after.room * pool.per_node)
    yield from _change("", before.nodes, after.nodes, "node")
    yield from _change("reserve ", before.reserve, after.reserve, "node")
    if before.reserve != after.reserve or before.nodes == after.nodes:
        yield from _change("promised ", before.promised, after.promised, "node")
    yield from _change("head-room ", old_room, new_room, pool.unit.noun)
    yield from pool_costs(before, after)


def _change(name: str, before: int, after: int, unit: str) -> Iterator[str]:
    if before != after:
        yield f"{name}{before} -> {counted(after, unit)}"
