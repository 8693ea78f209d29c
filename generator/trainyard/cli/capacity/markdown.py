"""The capacity of clusters as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.capacity.figures import Capacity, CohortMembers, FabricCapacity, PoolCapacity
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
from trainyard.cli.console import printable
from trainyard.render.markdown import Markdown, code
from trainyard.render.markdown import text as plain


def markdown(capacities: Sequence[Capacity]) -> str:
    """Return all clusters, each with its pools and its tree of cohorts."""
    return "\n\n".join("\n".join(_cluster(each)) for each in capacities)


def _cluster(capacity: Capacity) -> Iterator[str]:
    yield f"## Capacity of {_name(capacity.cluster)}"
    for pool in capacity.pools:
        yield ""
        yield from _pool(pool)
    for fabric in capacity.fabrics:
        yield ""
        yield from _fabric(fabric)
    if capacity.cohorts:
        yield ""
        yield from _cohorts(capacity)


def _pool(pool: PoolCapacity) -> Iterator[str]:
    yield from (f"### Pool {_name(pool.name)}", "", f"{plain(f'{size(pool)}, {balance(pool)}')}.")
    lacking = [f"- {plain(printable(line))}" for line in maintenances(pool)]
    yield from ("", *lacking) if lacking else ()
    if pool.parts:
        yield ""
        yield from _teams(pool)
    ends = [
        f"- {_name(part.team)} has {pool.units(part.own)} {plain(printable(ending))}"
        for part, ending in endings(pool)
    ]
    yield from ("", *ends) if ends else ()
    yield ""
    head = ("resource", "a node", "promised", "nominal", "head-room", "used up first")
    yield from table(
        head,
        [
            (
                _name(row.name),
                row.per_node,
                row.promised,
                row.nominal,
                row.head_room,
                "yes" if row.binds else "",
            )
            for row in rows(pool.resources)
        ],
    )


def _teams(pool: PoolCapacity) -> Iterator[str]:
    head = (
        f"team ({pool.unit.plural})",
        "own",
        "lends",
        "may borrow",
        "own job",
        "largest job",
        "limit",
    )
    yield from table(
        head,
        [
            (
                _name(part.team),
                pool.units(part.own),
                pool.units(part.lend),
                borrowing(pool, part),
                job(pool, part.own_job),
                job(pool, part.largest_job),
                str(part.largest_job.limit),
            )
            for part in pool.parts
        ],
    )


def _fabric(fabric: FabricCapacity) -> Iterator[str]:
    yield from (f"### Fabric {_name(fabric.name)}", "", f"{plain(numbers(fabric))}.")
    if fabric.teams:
        yield ""
        yield from table(
            ("team", fabric.unit, "addresses", "addresses of a rail"),
            [
                (_name(each.team), each.segment, each.addresses, each.per_rail)
                for each in fabric.teams
            ],
        )


def _cohorts(capacity: Capacity) -> Iterator[str]:
    yield from ("### Cohorts", "")
    yield from (_cohort(each) for each in capacity.cohorts)
    for pool, part in borrowers(capacity):
        most = borrowable(pool, part)
        lend = plain(printable(some(lenders(pool, part))) or "nobody lends")
        yield f"- {_name(part.team)} may borrow {most} of {_name(pool.name)}: {lend}"


def _cohort(cohort: CohortMembers) -> str:
    indent = "  " * (len(cohort.lineage) - 1)
    return f"{indent}- {_name(cohort.name)}: {plain(printable(some(cohort.teams)) or 'no team')}"


def table(head: Sequence[str], lines: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield a table whose columns after the first are aligned to the right.

    Args:
        head: names of the columns.
        lines: cells; those that are not `Markdown` are escaped.
    """
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for line in lines:
        yield f"| {' | '.join(map(_cell, line))} |"


def _cell(value: object) -> str:
    return value if isinstance(value, Markdown) else plain(value)


def _name(name: str) -> Markdown:
    return code(printable(name))
