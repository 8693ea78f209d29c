"""Findings as workflow commands of GitHub Actions, which become annotations."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from trainyard.cli.console import printable
from trainyard.cli.findings import Findings, counts, summary, told
from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic, Severity

LIMIT = 10
"""Annotations of each type that GitHub takes from one step."""


def report(command: str, found: Findings) -> str:
    """Return the first findings of each severity as commands; the last line counts all.

    Source of the form: actions/toolkit:packages/core/src/command.ts.
    """
    lines: list[str] = []
    left_out: Counter[Severity] = Counter()
    for severity, located in groupby(found.ordered(), lambda pair: pair[0].severity):
        for number, (diagnostic, place) in enumerate(located):
            if number < LIMIT:
                lines.append(_command(diagnostic, place, found))
            else:
                left_out[severity] += 1
    more = counts(left_out)
    rest = f"; not annotated, as GitHub takes {LIMIT} of each: {more}" if more else ""
    return "\n".join([*lines, f"trainyard {command}: {summary(found)}{rest}"])


def _command(diagnostic: Diagnostic, place: Place, found: Findings) -> str:
    span = place.span
    properties = {
        "file": place.file,
        "line": span.line,
        "endLine": span.line,
        "col": span.column,
        "endColumn": span.end_column,
        "title": diagnostic.rule,
    }
    shown = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    lines = told(diagnostic, found.places)
    text = "\n".join(map(printable, lines))
    return f"::{diagnostic.severity} {shown}::{_data(text)}"


def _data(text: str) -> str:
    """Return a message as the runner reads it back; ``%`` first, since the others begin with it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    """Return the value of a property, in which a colon or comma would end it."""
    return _data(printable(value)).replace(":", "%3A").replace(",", "%2C")
