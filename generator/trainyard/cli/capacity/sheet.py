"""The capacity of clusters as CSV (RFC 4180): a row for each resource of each pool and team."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from trainyard.capacity.figures import Capacity, PoolCapacity
from trainyard.cli.capacity.document import base_unit
from trainyard.cli.console import printable

HEAD = (
    "cluster",
    "pool",
    "team",
    "resource",
    "unit",
    "reserve",
    "promised",
    "nominal",
    "lend",
    "borrow",
    "borrowable",
    "head_room",
    "own_job_pods",
    "largest_job_pods",
    "until",
    "then",
    "out_of_use",
)
_Cells = tuple[str | int, ...]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet calculate a cell
(https://owasp.org/www-community/attacks/CSV_Injection)."""


def sheet(capacities: Sequence[Capacity]) -> str:
    """Return the table without the last line's end.

    A row without a team has what the whole pool has; the other rows have what a team has of it.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(HEAD)
    for capacity in capacities:
        for pool in capacity.pools:
            writer.writerows(_row(capacity, pool, row) for row in (*_pool(pool), *_teams(pool)))
    return written.getvalue().removesuffix("\n")


def safe(text: str) -> str:
    """Return text that a spreadsheet shows and never calculates."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _row(capacity: Capacity, pool: PoolCapacity, row: _Cells) -> list[str | int]:
    cells: _Cells = (capacity.cluster, pool.name, *row)
    return [safe(printable(cell)) if isinstance(cell, str) else cell for cell in cells]


def _pool(pool: PoolCapacity) -> Iterator[_Cells]:
    for each in pool.resources:
        reserve = each.nodes - each.out_of_use - each.promised
        out = each.out_of_use
        figures: _Cells = (reserve, each.promised, each.nominal, "", "", "", each.head_room)
        yield ("", each.name, base_unit(each.name), *figures, "", "", "", "", out)


def _teams(pool: PoolCapacity) -> Iterator[_Cells]:
    for part in pool.parts:
        jobs = (part.own_job.pods, part.largest_job.pods)
        until = part.term.until if part.term else ""
        for each in pool.resources:
            limits = (
                int(nodes * each.per_node) for nodes in (part.lend, part.borrow, part.borrowable)
            )
            nominal = part.amounts[each.name]
            then = int(part.term.nodes * each.per_node) if part.term else ""
            figures: _Cells = ("", "", nominal, *limits, "", *jobs, until, then, "")
            yield (part.team, each.name, base_unit(each.name), *figures)
