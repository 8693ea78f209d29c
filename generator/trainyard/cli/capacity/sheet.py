"""The capacity of clusters as rows of CSV, one for each resource of each pool and team."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product, starmap

from trainyard.capacity.figures import Capacity, Part, Resource
from trainyard.cli.capacity.document import base_unit

HEAD = (
    *("cluster", "pool", "team", "resource", "unit", "reserve", "promised", "nominal"),
    *("lend", "borrow", "borrowable", "head_room", "own_job_pods", "largest_job_pods"),
    *("until", "then", "out_of_use"),
)


def rows(capacities: Sequence[Capacity]) -> Iterator[dict[str, object]]:
    """Yield the cells of each row by column.

    A row without a team has what the whole pool has; the other rows have what a team has of it.
    """
    for capacity in capacities:
        for pool in capacity.pools:
            whole = map(_whole, pool.resources)
            teams = starmap(_team, product(pool.parts, pool.resources))
            for row in chain(whole, teams):
                yield {"cluster": capacity.cluster, "pool": pool.name, **row}


def _whole(each: Resource) -> dict[str, object]:
    return {
        "resource": each.name,
        "unit": base_unit(each.name),
        "reserve": each.nodes - each.out_of_use - each.promised,
        "promised": each.promised,
        "nominal": each.nominal,
        "head_room": each.head_room,
        "out_of_use": each.out_of_use,
    }


def _team(part: Part, each: Resource) -> dict[str, object]:
    term = part.term
    ends = {"until": term.until, "then": int(term.nodes * each.per_node)} if term else {}
    return {
        "team": part.team,
        "resource": each.name,
        "unit": base_unit(each.name),
        "nominal": part.amounts[each.name],
        "lend": int(part.lend * each.per_node),
        "borrow": int(part.borrow * each.per_node),
        "borrowable": int(part.borrowable * each.per_node),
        "own_job_pods": part.own_job.pods,
        "largest_job_pods": part.largest_job.pods,
        **ends,
    }
