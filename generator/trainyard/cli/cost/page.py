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
    return [
        Page(each.cluster, [*map(_pool, each.pools), *_sums(each)], _left_out(each))
        for each in costs
    ]


def _pool(pool: PoolCost) -> Part:
    nodes = counted(pool.capacity.nodes, "node")
    figures = f"{pool.price} a node-hour, {nodes}, {HOURS} hours a month"
    rows = [*(_row(pool, each) for each in pool.shares), _total(pool)]
    kept = f"in the price: {pool.kept} of each node, for daemons"
    table = Table(_head(pool), rows, second=_CENTER)
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
    own = pool.capacity.unit.plural
    return (
        "team",
        "cost center",
        own,
        "lends",
        "borrows",
        *hours,
        f"{pool.price.currency} a month",
    )


def _hours(pool: PoolCost, hours: int) -> tuple[str, ...]:
    return (f"{hours:,}",) if pool.capacity.gpus else ()


def _sums(found: Cost) -> Iterator[Part]:
    heads: list[Head] = ["cost center", ("", None), ("a month", None), (None, "a month")]
    rows = [
        (payer, month.currency, month.display, f"{month.display} {month.currency}")
        for payer, month in _payers(found)
    ]
    if found.pools:
        yield Part("all pools", blocks=[Table(heads, rows)])


def _payers(found: Cost) -> Iterator[tuple[str, Money]]:
    """Yield who pays how much over all pools, then what all cost; currency by currency."""
    for month in found.months:
        for each in found.centers:
            if each.month.currency == month.currency:
                yield _payer(each), each.month
        yield "all", month


def _payer(each: CenterCost) -> str:
    """Return who pays, or what nobody pays for."""
    return (each.name or _NO_CENTER) if each.holder is Holder.TEAM else str(each.holder)


def _left_out(found: Cost) -> str:
    """Return which pools no sum counts; empty for none."""
    if not found.unpriced:
        return ""
    pools = ", ".join(f"{each.name} ({counted(each.nodes, 'node')})" for each in found.unpriced)
    return f"without a price (`nodeHour`), and in no sum: {pools}"
