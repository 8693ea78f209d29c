"""The cost of clusters as CSV (RFC 4180): a row for each part of each pool."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from decimal import Decimal

from trainyard.capacity.cost import Cost, PoolCost
from trainyard.capacity.figures import PoolCapacity
from trainyard.cli.capacity.sheet import safe
from trainyard.cli.console import printable
from trainyard.model.money import HOURS

HEAD = (
    "cluster",
    "pool",
    "holder",
    "team",
    "cost_center",
    "unit",
    "own",
    "lend",
    "borrowable",
    "hours",
    "gpu_hours",
    "node_hour",
    "currency",
    "month",
)
_Cells = tuple[str | int | Decimal, ...]


def sheet(costs: Sequence[Cost]) -> str:
    """Return the table without the last line's end.

    The row of a pool without a price has no holder, and no price.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(HEAD)
    for found in costs:
        for pool in found.pools:
            writer.writerows(_row(found.cluster, cells) for cells in _pool(pool))
        writer.writerows(_row(found.cluster, _unpriced(pool)) for pool in found.unpriced)
    return written.getvalue().removesuffix("\n")


def _row(cluster: str, cells: _Cells) -> list[str | int | Decimal]:
    return [safe(printable(cell)) if isinstance(cell, str) else cell for cell in (cluster, *cells)]


def _pool(pool: PoolCost) -> Iterator[_Cells]:
    figures = pool.capacity
    for each in pool.shares:
        yield (
            figures.name,
            each.holder,
            each.team,
            each.cost_center,
            figures.unit,
            *map(figures.units, (each.nodes, each.lend, each.borrowable)),
            HOURS,
            pool.gpu_hours(each.nodes),
            pool.price.amount,
            pool.price.currency,
            Decimal(each.month.number),
        )


def _unpriced(pool: PoolCapacity) -> _Cells:
    nothing = ("",) * 3
    return (pool.name, *nothing, pool.unit, pool.units(pool.nodes), "", "", HOURS, "", *nothing)
