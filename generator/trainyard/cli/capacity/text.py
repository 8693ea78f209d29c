"""The capacity of clusters as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

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
from trainyard.cli.console import printable

COLUMNS = 80
_BAR = 16
_CUT = "…"


def text(capacities: Sequence[Capacity]) -> str:
    """Return all clusters."""
    return "\n\n".join("\n".join(_cluster(each)) for each in capacities)


def _cluster(capacity: Capacity) -> Iterator[str]:
    yield cut(f"cluster {capacity.cluster}", COLUMNS)
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
    figures = f": {size(pool)}, {balance(pool)}"
    yield cut(f"pool {pool.name}", COLUMNS - len(figures)) + figures
    for line in maintenances(pool):
        yield from wrapped("  ", line)
    yield from _teams(pool)
    yield ""
    yield from _resources(pool)


def _teams(pool: PoolCapacity) -> Iterator[str]:
    head = ("team", "own", "lends", "borrows", "own job", "largest", "limit")
    promised = pool.units(pool.promised)
    teams = [
        (
            part.team,
            bar(pool.units(part.own), promised, _BAR),
            str(pool.units(part.own)),
            str(pool.units(part.lend)),
            borrowing(pool, part),
            str(job(pool, part.own_job)),
            str(job(pool, part.largest_job)),
            str(part.largest_job.limit),
        )
        for part in pool.parts
    ]
    owned = pool.units(pool.owned)
    teams.append(
        ("all", bar(owned, promised, _BAR), str(owned), str(pool.units(pool.lent)), "", "", "", "")
    )
    yield from table((head[0], pool.unit.plural, *head[1:]), teams)
    for part, ending in endings(pool):
        yield from wrapped("  ", f"{part.team} has {pool.units(part.own)} {ending}")


def _resources(pool: PoolCapacity) -> Iterator[str]:
    yield from table(
        ("resource", "", "a node", "promised", "nominal", "head-room"),
        [
            (
                row.name,
                "*" if row.binds else "",
                row.per_node,
                row.promised,
                row.nominal,
                row.head_room,
            )
            for row in rows(pool.resources)
        ],
    )
    if pool.binding:
        yield "  * used up first"


def _fabric(fabric: FabricCapacity) -> Iterator[str]:
    yield from wrapped("", f"fabric {fabric.name}: {numbers(fabric)}")
    head = ("team", "", fabric.unit, "addresses", "a rail")
    lines = [
        (each.team, "", each.segment, each.addresses, str(each.per_rail)) for each in fabric.teams
    ]
    if lines:
        yield from table(head, lines)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield lines with the first column cut to what the others leave; numbers are on the right."""
    widths = [max(map(len, map(printable, column))) for column in zip(head, *lines, strict=True)]
    widths[0] = min(widths[0], COLUMNS - sum(widths[1:]) - 2 * len(widths))
    for line in (head, *lines):
        name, mark, *numbers = line
        cells = [f"{cut(name, widths[0]):<{widths[0]}}", f"{mark:<{widths[1]}}"]
        cells += [f"{cell:>{width}}" for cell, width in zip(numbers, widths[2:], strict=True)]
        yield f"  {'  '.join(cells)}".rstrip()


def _cohorts(capacity: Capacity) -> Iterator[str]:
    yield "cohorts"
    for cohort in capacity.cohorts:
        indent = "  " * len(cohort.lineage)
        teams = some(cohort.teams) or "no team"
        yield from wrapped(indent, f"{cohort.name}: {teams}")
    for pool, part in borrowers(capacity):
        from_whom = some(lenders(pool, part)) or "nobody lends"
        most = borrowable(pool, part)
        yield from wrapped("  ", f"{part.team} may borrow {most} of {pool.name}: {from_whom}")


def wrapped(indent: str, line: str) -> list[str]:
    """Return a line as several of at most the width, the later ones indented further."""
    return wrap(
        printable(line),
        COLUMNS,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
    )


def cut(name: str, width: int) -> str:
    """Return a name without control characters, cut to a width."""
    shown = printable(name)
    return shown if len(shown) <= width else shown[: max(width - 1, 0)] + _CUT
