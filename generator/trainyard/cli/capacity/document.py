"""The capacity of clusters as JSON; `schema/documents/capacity.schema.json` describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from trainyard.capacity.figures import (
    Capacity,
    CohortMembers,
    FabricCapacity,
    Job,
    Numbers,
    Part,
    PoolCapacity,
    Resource,
)

_BYTES = ("memory", "ephemeral-storage")


def document(capacities: Sequence[Capacity]) -> list[dict[str, Any]]:
    """Return plain data; quota in the pool's unit, resources in whole base units."""
    return list(map(_cluster, capacities))


def base_unit(resource: str) -> str:
    """Return the unit in which a resource is counted."""
    if resource == "cpu":
        return "millicores"
    return "bytes" if resource in _BYTES else "count"


def _cluster(capacity: Capacity) -> dict[str, Any]:
    return {
        "cluster": capacity.cluster,
        "pools": list(map(_pool, capacity.pools)),
        "fabrics": list(map(_fabric, capacity.fabrics)),
        "cohorts": list(map(_cohort, capacity.cohorts)),
    }


def _cohort(cohort: CohortMembers) -> dict[str, Any]:
    parent = cohort.lineage[1] if len(cohort.lineage) > 1 else None
    return {"name": cohort.name, "parent": parent, "teams": cohort.teams}


def _pool(pool: PoolCapacity) -> dict[str, Any]:
    return {
        "name": pool.name,
        "hardware": pool.hardware,
        "unit": pool.unit,
        "unitsPerNode": pool.per_node,
        "gpusPerNode": pool.gpus,
        "nodes": pool.nodes,
        "maintenance": [
            {"nodes": each.nodes, "until": each.until, "reason": each.reason}
            for each in pool.maintenance
        ],
        "outOfUse": pool.out_of_use,
        "reserve": pool.reserve,
        "promised": pool.units(pool.promised),
        "owned": pool.units(pool.owned),
        "lent": pool.units(pool.lent),
        "headRoom": pool.units(pool.promised) - pool.units(pool.owned),
        "bindingResources": pool.binding,
        "resources": [_resource(resource, pool.parts) for resource in pool.resources],
        "teams": list(map(partial(_part, pool), pool.parts)),
    }


def _fabric(fabric: FabricCapacity) -> dict[str, Any]:
    return {
        "name": fabric.name,
        "unit": fabric.unit,
        "rails": fabric.rails,
        "segments": fabric.segments,
        "segmentsGiven": fabric.segments_given,
        "blocks": fabric.blocks,
        "blocksGiven": fabric.blocks_given,
        "blockPrefix": fabric.prefix,
        "headRoom": fabric.head_room,
        "teams": list(map(_numbers, fabric.teams)),
    }


def _numbers(given: Numbers) -> dict[str, Any]:
    return {
        "team": given.team,
        "segment": given.segment,
        "addresses": given.addresses,
        "addressesOfARail": given.per_rail,
    }


def _resource(each: Resource, parts: Sequence[Part]) -> dict[str, Any]:
    nominal: Mapping[str, int] = {part.team: part.amounts[each.name] for part in parts}
    return {
        "name": each.name,
        "unit": base_unit(each.name),
        "perNode": each.per_node,
        "nodes": each.nodes,
        "outOfUse": each.out_of_use,
        "promised": each.promised,
        "nominal": each.nominal,
        "headRoom": each.head_room,
        "nominalByTeam": nominal,
    }


def _part(pool: PoolCapacity, part: Part) -> dict[str, Any]:
    return {
        "team": part.team,
        "cohort": part.cohort or None,
        "root": part.root or None,
        "state": part.state.word,
        "own": pool.units(part.own),
        "withheld": pool.units(part.withheld),
        "lend": pool.units(part.lend),
        "borrow": pool.units(part.borrow),
        "borrowable": pool.units(part.borrowable),
        "until": part.term.until if part.term else None,
        "reason": part.term.reason if part.term else None,
        "then": pool.units(part.term.nodes) if part.term else None,
        "ownJob": _job(pool, part.own_job),
        "largestJob": _job(pool, part.largest_job),
    }


def _job(pool: PoolCapacity, job: Job) -> dict[str, Any]:
    return {
        "pods": job.pods,
        "units": pool.units(job.nodes),
        "gpus": int(job.nodes * pool.gpus),
        "limit": job.limit,
    }
