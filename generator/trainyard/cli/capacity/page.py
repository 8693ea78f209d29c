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
    stops,
)
from trainyard.cli.capacity.bars import bar
from trainyard.cli.tables.model import Head, Item, Name, Page, Part, Table

_BAR = 16


def pages(capacities: Sequence[Capacity]) -> list[Page]:
    """Return each cluster with its pools, its fabrics and its tree of cohorts."""
    return list(map(_cluster, capacities))


def _cluster(capacity: Capacity) -> Page:
    pools, fabrics = map(_pool, capacity.pools), map(_fabric, capacity.fabrics)
    return Page(capacity.cluster, [*pools, *fabrics, *_cohorts(capacity)])


def _pool(pool: PoolCapacity) -> Part:
    lacking = [Item([line]) for line in (*stops(pool), *maintenances(pool))]
    ends = []
    for part, ending in endings(pool):
        ends.append(Item([Name(part.team), f" has {pool.units(part.own)} {ending}"]))
    blocks = (lacking, _teams(pool), ends, _resources(pool))
    return Part("pool", pool.name, f"{size(pool)}, {balance(pool)}", blocks)


def _teams(pool: PoolCapacity) -> Table:
    own = pool.unit.plural
    first: list[Head] = [("team", f"team ({own})"), (own, None), "own", "lends"]
    others: list[Head] = [("borrows", "may borrow"), "own job", ("largest", "largest job"), "limit"]
    promised, owned = pool.units(pool.promised), pool.units(pool.owned)
    teams = []
    for part in pool.parts:
        units = pool.units(part.own)
        numbers = units, pool.units(part.lend), borrowing(pool, part)
        jobs = job(pool, part.own_job), job(pool, part.largest_job), part.largest_job.limit
        teams.append((Name(part.team), bar(units, promised, _BAR), *numbers, *jobs))
    total = ("all", bar(owned, promised, _BAR), owned, pool.units(pool.lent), "", "", "", "")
    return Table([*first, *others], teams, total)


def _resources(pool: PoolCapacity) -> Table:
    figures = ("a node", "promised", "nominal", "head-room")
    heads: list[Head] = ["resource", ("", None), *figures, (None, "used up first")]
    every = rows(pool.resources)
    resources = [(Name(row.name), "*" if row.binds else "", *row.figures) for row in every]
    return Table(heads, resources, note="* used up first" if pool.binding else "")


def _fabric(fabric: FabricCapacity) -> Part:
    per_rail = ("a rail", "addresses of a rail")
    heads: list[Head] = ["team", ("", None), fabric.unit, "addresses", per_rail]
    teams = [
        (Name(given.team), "", given.segment, given.addresses, given.per_rail)
        for given in fabric.teams
    ]
    return Part("fabric", fabric.name, numbers(fabric), [Table(heads, teams)], wraps=True)


def _cohorts(capacity: Capacity) -> Iterator[Part]:
    items = []
    for cohort in capacity.cohorts:
        teams = some(cohort.teams) or "no team"
        items.append(Item([Name(cohort.name), f": {teams}"], len(cohort.lineage) - 1))
    for pool, part in borrowers(capacity) if items else ():
        may, whose = borrowable(pool, part), some(lenders(pool, part)) or "nobody lends"
        words = Name(part.team), f" may borrow {may} of ", Name(pool.name), f": {whose}"
        items.append(Item(words))
    if items:
        yield Part("cohorts", blocks=[items])
