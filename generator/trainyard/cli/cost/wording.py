"""Words of a cluster's cost that text and Markdown share."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.capacity.cost import CenterCost, Cost, Holder, PoolCost, Share
from trainyard.model.money import HOURS, Money
from trainyard.model.quantity import counted

_NO_CENTER = "none"


def price(pool: PoolCost) -> str:
    """Return the price of a pool, e.g. ``96 USD a node-hour, 17 nodes, 730 hours a month``."""
    nodes = counted(pool.capacity.nodes, "node")
    return f"{pool.price} a node-hour, {nodes}, {HOURS} hours a month"


def kept(pool: PoolCost) -> str:
    """Return what the price includes beside what teams may use."""
    return f"in the price: {pool.kept} of each node, for daemons"


def row(pool: PoolCost, share: Share) -> tuple[str, ...]:
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


def total(pool: PoolCost) -> tuple[str, ...]:
    """Return the row of all nodes."""
    nodes = pool.capacity.nodes
    hours = _hours(pool, pool.gpu_hours(nodes))
    return ("all", "", str(pool.capacity.units(nodes)), "", "", *hours, pool.month.display)


def head(pool: PoolCost) -> tuple[str, ...]:
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


def sums(found: Cost) -> Iterator[tuple[str, Money]]:
    """Yield who pays how much over all pools, then what all cost; currency by currency."""
    for month in found.months:
        for each in found.centers:
            if each.month.currency == month.currency:
                yield _payer(each), each.month
        yield "all", month


def _payer(each: CenterCost) -> str:
    """Return who pays, or what nobody pays for."""
    return (each.name or _NO_CENTER) if each.holder is Holder.TEAM else str(each.holder)


def left_out(found: Cost) -> str:
    """Return which pools no sum counts; empty for none."""
    if not found.unpriced:
        return ""
    pools = ", ".join(f"{each.name} ({counted(each.nodes, 'node')})" for each in found.unpriced)
    return f"without a price (`nodeHour`), and in no sum: {pools}"
