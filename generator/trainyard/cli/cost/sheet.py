"""The cost of clusters as rows of CSV, one for each part of each pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from trainyard.capacity.cost import Cost, PoolCost
from trainyard.model.money import HOURS

HEAD = (
    *("cluster", "pool", "holder", "team", "cost_center", "unit", "own", "lend", "borrowable"),
    *("hours", "gpu_hours", "node_hour", "currency", "month"),
)


def rows(costs: Sequence[Cost]) -> Iterator[dict[str, object]]:
    """Yield the cells of each row by column; that of a pool without a price has no holder."""
    for found in costs:
        for pool in found.pools:
            for each in _shares(pool):
                yield {"cluster": found.cluster, "hours": HOURS, **each}
        for unpriced in found.unpriced:
            yield {
                "cluster": found.cluster,
                "pool": unpriced.name,
                "unit": unpriced.unit,
                "own": unpriced.units(unpriced.nodes),
                "hours": HOURS,
            }


def _shares(pool: PoolCost) -> Iterator[dict[str, object]]:
    figures = pool.capacity
    for each in pool.shares:
        yield {
            "pool": figures.name,
            "holder": each.holder,
            "team": each.team,
            "cost_center": each.cost_center,
            "unit": figures.unit,
            "own": figures.units(each.nodes),
            "lend": figures.units(each.lend),
            "borrowable": figures.units(each.borrowable),
            "gpu_hours": pool.gpu_hours(each.nodes),
            "node_hour": pool.price.amount,
            "currency": pool.price.currency,
            "month": Decimal(each.month.number),
        }
