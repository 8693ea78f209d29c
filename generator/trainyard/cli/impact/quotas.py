"""Describe in lines what changes of quota, cohorts and pools."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.impact.amounts import CohortChange, PoolChange, PoolSize, QuotaChange, Transfer
from trainyard.impact.model import ClusterImpact
from trainyard.model.differences import few
from trainyard.model.money import Money
from trainyard.model.quantity import counted
from trainyard.model.team import Quota


def quota_lines(cluster: ClusterImpact) -> Iterator[str]:
    """Yield what changes of teams' quota, of cohorts and of pools."""
    for renamed in cluster.renames:
        yield f"~ team {renamed.before} is now called {renamed.after}"
        yield f"  its folder `{renamed.folder}`, numbers and user ids stay those of the same team"
        yield f"  the same roles under the new name: {few(renamed.kept) or 'nobody'}"
    for transfer in cluster.transfers:
        yield f"~ {_transfer(transfer)}"
    for quota in cluster.quotas:
        yield _quota(quota)
    for payer in cluster.payers:
        centers = (each or "none" for each in (payer.before, payer.after))
        yield f"~ cost center of {payer.team}: {' -> '.join(centers)}"
    for cohort in cluster.cohorts:
        yield f"~ {_cohort(cohort)}"
    for queue in cluster.orders:
        order = f"{', '.join(queue.before)} -> {', '.join(queue.after)}"
        yield f"~ pools of {queue.queue} are tried in the order {order}"
    for pool in cluster.pools:
        yield f"~ {_pool(pool)}"


def _transfer(transfer: Transfer) -> str:
    moved = ", ".join(
        f"{team} {_nodes(before)} -> {_nodes(after)}"
        for team, before, after in (*transfer.givers, *transfer.takers)
    )
    return f"transfer of nodes of {transfer.pool}: {moved}"


def _quota(change: QuotaChange) -> str:
    name = f"{change.team} on {change.pool}"
    if change.before is None and change.after is not None:
        reach = change.after.display(change.reach_after)
        cost = "".join(f", {each}" for each in _months(None, change.month_after))
        return f"+ {name}: {_size(change.after)}{cost}, largest job {reach}"
    if change.after is None and change.before is not None:
        cost = "".join(f", {each}" for each in _months(change.month_before, None))
        return f"- {name}: {_size(change.before)}{cost}"
    assert change.before is not None
    assert change.after is not None
    return f"~ {name}: {', '.join(_differences(change, change.before, change.after))}"


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
    if before.nodes != after.nodes and not after.is_share and change.gpus_per_node:
        old, new = (each.nodes * change.gpus_per_node for each in (before, after))
        yield f"{_nodes(old)} -> {_nodes(new)} GPUs"
    if before.nodes != after.nodes:
        yield from _months(change.month_before, change.month_after)
    if change.reach_before != change.reach_after:
        yield f"largest job {_step(before, change.reach_before, after, change.reach_after)}"
    if before.term != after.term:
        yield _term(after)
        if before.term:
            yield f"before {before.ending}"


def _months(before: Money | None, after: Money | None) -> Iterator[str]:
    """Yield what nodes cost in a month before and after; nothing where no side has a price."""
    known = [each for each in (before, after) if each]
    currencies = {each.currency for each in known}
    if len(currencies) == 1:
        yield f"{' -> '.join(each.display for each in known)} {currencies.pop()} a month"
    elif known:
        yield f"{' -> '.join(f'{each.display} {each.currency}' for each in known)} a month"


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
    peers = (few(each) or "nobody" for each in (change.peers_before, change.peers_after))
    return (
        f"cohort of {change.team}: {' -> '.join(cohorts)}; "
        f"lends to and borrows from {' -> '.join(peers)}"
    )


def _pool(pool: PoolChange) -> str:
    before, after = pool.before, pool.after
    old_room, new_room = (int(each.room * pool.per_node) for each in (before, after))
    parts = [*_change("", before.nodes, after.nodes, "node")]
    if before.reserve != after.reserve:
        parts += _change("reserve ", before.reserve, after.reserve, "node")
        parts += _change("promised ", before.promised, after.promised, "node")
    parts += _change("head-room ", old_room, new_room, pool.unit.noun)
    parts += _prices(before, after)
    return f"pool {pool.pool}: {', '.join(parts)}"


def _prices(before: PoolSize, after: PoolSize) -> Iterator[str]:
    """Yield the price of a node-hour, and what all nodes cost in a month."""
    if before.price != after.price:
        old, new = (str(each.price or "none") for each in (before, after))
        yield f"price of a node-hour {old} -> {new}"
    if (before.price, before.nodes) != (after.price, after.nodes):
        sizes = (before, after)
        yield from _months(
            *(each.price.month(each.nodes) if each.price else None for each in sizes)
        )


def _change(name: str, before: int, after: int, unit: str) -> Iterator[str]:
    if before != after:
        yield f"{name}{before} -> {counted(after, unit)}"


def _nodes(number: Fraction) -> str:
    return f"{float(number):g}"
