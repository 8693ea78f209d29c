"""Findings as workflow commands of GitHub Actions, which become annotations."""

from __future__ import annotations

from trainyard.cli.console import printable
from trainyard.cli.findings import Findings, counts, remarks, summary
from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic, Severity

LIMIT = 10
"""Annotations of each type that GitHub takes from one step."""


def report(command: str, found: Findings) -> str:
    """Return the first findings of each severity as commands; the last line counts all.

    Source of the form: actions/toolkit:packages/core/src/command.ts.
    """
    ordered = found.ordered()
    lines: list[str] = []
    for severity in Severity:
        located = [pair for pair in ordered if pair[0].severity is severity]
        lines += [_command(diagnostic, place, found) for diagnostic, place in located[:LIMIT]]
    return "\n".join([*lines, f"trainyard {command}: {summary(found)}{_left_out(found)}"])


def _left_out(found: Findings) -> str:
    more = counts({severity: max(0, found.count(severity) - LIMIT) for severity in Severity})
    return f"; not annotated, as GitHub takes {LIMIT} of each: {more}" if more else ""


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
    beside = (f"{name}: {remark}" for name, remark in remarks(diagnostic, found.places))
    text = "\n".join(printable(line) for line in (diagnostic.message, *beside))
    return f"::{diagnostic.severity} {shown}::{_data(text)}"


def _data(text: str) -> str:
    """Return a message as the runner reads it back; ``%`` first, since the others begin with it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    """Return the value of a property, in which a colon or comma would end it."""
    return _data(printable(value)).replace(":", "%3A").replace(",", "%2C")
