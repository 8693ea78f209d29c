"""The cost of clusters as pages, for text and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.capacity.cost import CenterCost, Cost, Holder, PoolCost, Share
from trainyard.cli.tables.model import Head, Page, Part, Table
from trainyard.model.money import HOURS, Money
from trainyard.model.quantity import counted

_NO_CENTER = "none"
_CENTER = 12
"""Columns of a cost center in the table of a pool."""


def pages(costs: Sequence[Cost]) -> list[Page]:
    """Return each cluster with its pools and the sums of its cost centers."""
    return list(map(_cluster, costs))


def _cluster(cost: Cost) -> Page:
    return Page(cost.cluster, [*map(_pool, cost.pools), *_sums(cost)], _left_out(cost))


def _pool(pool: PoolCost) -> Part:
    nodes = counted(pool.capacity.nodes, "node")
    figures = f"{pool.price} a node-hour, {nodes}, {HOURS} hours a month"
    rows = [_row(pool, share) for share in pool.shares]
    kept = f"in the price: {pool.kept} of each node, for daemons"
    table = Table(_head(pool), [*rows, _total(pool)], second=_CENTER)
    return Part("pool", pool.capacity.name, figures, [table, kept])


def _row(pool: PoolCost, share: Share) -> tuple[str, ...]:
    """Return a part of a pool: who has it, who pays, its size in the pool's unit, hours, money."""
    team = share.holder is Holder.TEAM
    units = pool.capacity.units
    return (
        share.team or str(share.holder),
        (share.cost_center or _NO_CENTER) if team else "",
        str(units(share.nodes)),
        str(units(share.lend)) if team else "",
        str(units(share.borrowable)) if team else "",
        *_hours(pool, pool.gpu_hours(share.nodes)),
        share.month.display,
    )


def _total(pool: PoolCost) -> tuple[str, ...]:
    """Return the row of all nodes."""
    nodes = pool.capacity.nodes
    hours = _hours(pool, pool.gpu_hours(nodes))
    return ("all", "", str(pool.capacity.units(nodes)), "", "", *hours, pool.month.display)


def _head(pool: PoolCost) -> tuple[str, ...]:
    """Return the names of the columns; nodes without GPUs have no GPU-hours."""
    hours = ("GPU-hours",) if pool.capacity.gpus else ()
    month = f"{pool.price.currency} a month"
    return ("team", "cost center", pool.capacity.unit.plural, "lends", "borrows", *hours, month)


def _hours(pool: PoolCost, hours: int) -> tuple[str, ...]:
    return (f"{hours:,}",) if pool.capacity.gpus else ()


def _sums(cost: Cost) -> Iterator[Part]:
    heads: list[Head] = ["cost center", ("", None), ("a month", None), (None, "a month")]
    rows = []
    for payer, month in _payers(cost):
        whole = f"{month.display} {month.currency}"
        rows.append((payer, month.currency, month.display, whole))
    if cost.pools:
        yield Part("all pools", blocks=[Table(heads, rows)])


def _payers(cost: Cost) -> Iterator[tuple[str, Money]]:
    """Yield who pays how much over all pools, then what all cost; currency by currency."""
    for month in cost.months:
        for center in cost.centers:
            if center.month.currency == month.currency:
                yield _payer(center), center.month
        yield "all", month


def _payer(center: CenterCost) -> str:
    """Return who pays, or what nobody pays for."""
    return (center.name or _NO_CENTER) if center.holder is Holder.TEAM else str(center.holder)


def _left_out(cost: Cost) -> str:
    """Return which pools no sum counts; empty for none."""
    if not cost.unpriced:
        return ""
    pools = ", ".join(f"{pool.name} ({counted(pool.nodes, 'node')})" for pool in cost.unpriced)
    return f"without a price (`nodeHour`), and in no sum: {pools}"
