"""The capacity of clusters as pages, for text and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.capacity.figures import Capacity, FabricCapacity, PoolCapacity
from trainyard.capacity.wording import (
    balance,
    borrowable,
    borrowers,
    borrowing,
    endings,
    job,
    lenders,
    maintenances,
    numbers,
    rows,
    size,
    some,
)
from trainyard.cli.capacity.bars import bar
from trainyard.cli.tables.model import Head, Item, Name, Page, Part, Table

_BAR = 16


def pages(capacities: Sequence[Capacity]) -> list[Page]:
    """Return each cluster with its pools, its fabrics and its tree of cohorts."""
    return [
        Page(each.cluster, [*map(_pool, each.pools), *map(_fabric, each.fabrics), *_cohorts(each)])
        for each in capacities
    ]


def _pool(pool: PoolCapacity) -> Part:
    lacking = [Item([line]) for line in maintenances(pool)]
    ends = [
        Item([Name(part.team), f" has {pool.units(part.own)} {ending}"])
        for part, ending in endings(pool)
    ]
    blocks = (lacking, _teams(pool), ends, _resources(pool))
    return Part("pool", pool.name, f"{size(pool)}, {balance(pool)}", blocks)


def _teams(pool: PoolCapacity) -> Table:
    own = pool.unit.plural
    first: list[Head] = [("team", f"team ({own})"), (own, None), "own", "lends"]
    others: list[Head] = [("borrows", "may borrow"), "own job", ("largest", "largest job"), "limit"]
    promised, owned = pool.units(pool.promised), pool.units(pool.owned)
    teams = [
        (
            Name(part.team),
            bar(pool.units(part.own), promised, _BAR),
            pool.units(part.own),
            pool.units(part.lend),
            borrowing(pool, part),
            job(pool, part.own_job),
            job(pool, part.largest_job),
            part.largest_job.limit,
        )
        for part in pool.parts
    ]
    total = ("all", bar(owned, promised, _BAR), owned, pool.units(pool.lent), "", "", "", "")
    return Table([*first, *others], teams, total)


def _resources(pool: PoolCapacity) -> Table:
    figures = ("a node", "promised", "nominal", "head-room")
    heads: list[Head] = ["resource", ("", None), *figures, (None, "used up first")]
    resources = [
        (
            Name(row.name),
            "*" if row.binds else "",
            *row.figures,
        )
        for row in rows(pool.resources)
    ]
    return Table(heads, resources, note="* used up first" if pool.binding else "")


def _fabric(fabric: FabricCapacity) -> Part:
    per_rail = ("a rail", "addresses of a rail")
    heads: list[Head] = ["team", ("", None), fabric.unit, "addresses", per_rail]
    teams = [
        (Name(each.team), "", each.segment, each.addresses, each.per_rail) for each in fabric.teams
    ]
    return Part("fabric", fabric.name, numbers(fabric), [Table(heads, teams)], wraps=True)


def _cohorts(capacity: Capacity) -> Iterator[Part]:
    cohorts = [
        Item([Name(each.name), f": {some(each.teams) or 'no team'}"], len(each.lineage) - 1)
        for each in capacity.cohorts
    ]
    borrow = [
        Item(
            [
                Name(part.team),
                f" may borrow {borrowable(pool, part)} of ",
                Name(pool.name),
                f": {some(lenders(pool, part)) or 'nobody lends'}",
            ]
        )
        for pool, part in borrowers(capacity)
    ]
    if cohorts:
        yield Part("cohorts", blocks=[[*cohorts, *borrow]])
