"""The cost of clusters as JSON; `schema/documents/cost.schema.json` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.capacity.cost import CenterCost, Cost, PoolCost, Share
from trainyard.model.money import HOURS


def document(costs: Sequence[Cost]) -> list[dict[str, Any]]:
    """Return plain data; money as decimal text, since a JSON number may become a binary float."""
    return list(map(_cluster, costs))


def _cluster(found: Cost) -> dict[str, Any]:
    return {
        "cluster": found.cluster,
        "hours": HOURS,
        "pools": list(map(_pool, found.pools)),
        "unpriced": [{"name": pool.name, "nodes": pool.nodes} for pool in found.unpriced],
        "costCenters": list(map(_center, found.centers)),
        "months": found.months,
    }


def _pool(pool: PoolCost) -> dict[str, Any]:
    figures = pool.capacity
    return {
        "name": figures.name,
        "hardware": figures.hardware,
        "unit": figures.unit,
        "unitsPerNode": figures.per_node,
        "nodes": figures.nodes,
        "nodeHour": pool.price,
        "system": pool.kept,
        "shares": [_share(pool, share) for share in pool.shares],
        "month": pool.month,
    }


def _share(pool: PoolCost, share: Share) -> dict[str, Any]:
    units = pool.capacity.units
    return {
        "holder": share.holder,
        "team": share.team or None,
        "costCenter": share.cost_center or None,
        "own": units(share.nodes),
        "lend": units(share.lend),
        "borrowable": units(share.borrowable),
        "gpuHours": pool.gpu_hours(share.nodes),
        "month": share.month,
    }


def _center(each: CenterCost) -> dict[str, Any]:
    name = each.name or None
    return {"holder": each.holder, "costCenter": name, "month": each.month}
