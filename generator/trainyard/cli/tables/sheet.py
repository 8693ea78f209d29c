"""Figures as CSV (RFC 4180)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from trainyard.cli.console import printable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet calculate a cell
(https://owasp.org/www-community/attacks/CSV_Injection)."""


def sheet(head: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return a table without the last line's end.

    Args:
        head: names of the columns.
        rows: cells by column; those that a row lacks are empty.
    """
    written = io.StringIO()
    writer = csv.DictWriter(written, head, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({column: _cell(value) for column, value in row.items()})
    return written.getvalue().removesuffix("\n")


def _cell(value: object) -> object:
    return safe(printable(value)) if isinstance(value, str) else value


def safe(text: str) -> str:
    """Return text that a spreadsheet shows and never calculates."""
    return f"'{text}" if text.startswith(_FORMULA) else text
