"""Read a table of teams: each row is judged as the options of a command would be."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from trainyard.diagnostics import TreeError

ROLES: Final = ("admin", "user", "viewer")
"""Roles of a team's groups; each is a column."""
Row = TypeVar("Row")

COLUMNS: Final = (
    "name",
    *("cluster", "pool", "nodes", "gpus", "cores", "borrow", "lend", "cohort"),
    *("runtime", "contact", *ROLES),
)
"""Columns of a table; all but the name and the roles are options of the command."""
_REPEATED: Final = "runtime"
"""Column whose cells have several values with spaces between them."""


def rows_of(
    command: click.Command, make: Callable[[str, Mapping[str, Any]], Row], file: str, text: str
) -> list[Row]:
    """Return what is made of each team of a table in CSV.

    Args:
        command: that has the options.
        make: gets the name and the options that a row states.
        file: name of the table, for messages.
        text: its first line names the columns; an empty cell states nothing.

    Raises:
        TreeError: it is not CSV, has no team, or a column or a cell is wrong; all are named.
    """
    columns, rows = _read(file, text)
    faults = [f"{file}:1: {fault}" for fault in _of_columns(columns)]
    if not rows:
        faults.append(f"{file} has no team: its first line names the columns")
    if faults:
        raise TreeError("; ".join(faults))
    found: list[Row] = []
    for line, cells in rows:
        try:
            found.append(make(*_options(command, dict(zip(columns, cells, strict=True)))))
        except ValueError:
            faults.append(f"{file}:{line}: there are not as many cells as columns")
        except click.UsageError as error:
            faults.append(f"{file}:{line}: {error.format_message()}")
    if faults:
        raise TreeError("; ".join(faults))
    return found


def _read(file: str, text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the columns, and the line and the cells of each further row that is not empty."""
    reader = csv.reader(StringIO(text), strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise TreeError(f"{file}:{reader.line_num}: this is not CSV: {error}") from error
    _, columns = rows[0] if rows else (0, [])
    return columns, [(line, cells) for line, cells in rows[1:] if any(cells)]


def _of_columns(columns: Sequence[str]) -> Iterator[str]:
    for column in columns:
        if column not in COLUMNS:
            yield f"there is no column `{column}`; the columns are {', '.join(COLUMNS)}"
        elif columns.count(column) > 1:
            yield f"column `{column}` is there twice"
    if "name" not in columns:
        yield "there is no column `name`"


def _options(command: click.Command, row: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a row's team and the options that its other cells state.

    Raises:
        UsageError: a cell is not what its option takes.
    """
    if not row["name"]:
        raise click.UsageError("the team has no name")
    args = [arg for column, cell in row.items() if cell for arg in _arguments(column, cell)]
    with command.make_context("", [*args, "--", row["name"]]) as context:
        stated = {
            key: value
            for key, value in context.params.items()
            if context.get_parameter_source(key) is ParameterSource.COMMANDLINE
        }
    (name,) = stated.pop("names")
    return name, stated


def _arguments(column: str, cell: str) -> list[str]:
    """Return a cell as arguments of the command."""
    if column == "name":
        return []
    if column in ROLES:
        return [f"--group={column}={cell}"]
    values = cell.split() if column == _REPEATED else [cell]
    return [f"--{column}={value}" for value in values]
