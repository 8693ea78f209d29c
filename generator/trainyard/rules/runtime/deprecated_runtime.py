"""Find teams that list a deprecated runtime before its last day has passed."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import DatedCheck
from trainyard.rules._iterate import listed_with_end

RULE = Rule(
    id="runtime/deprecated-runtime",
    severity=Severity.WARNING,
    summary="Teams list runtimes that are not deprecated.",
    why="""
        Trainer warns the team's users at each submission (seen with Trainer 2.3.0). After the
        runtime's last day this warning becomes an error, which blocks every other change of the
        profiles too.
    """,
    fix="""
        Move the team to the newer version in its `runtimes`, and remove this one there when no job
        uses it. Until then waive this, at the latest until the runtime's last day.
    """,
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    for team, runtime in listed_with_end(platform):
        if runtime.end >= today:
            message = (
                f"runtime `{runtime.name}`, which team {team.name} lists, ends on {runtime.end}"
            )
            notes = [Note("its last day is set here", runtime.at / "deprecated" / "end")]
            cause = f"runtime `{runtime.name}`, which teams list, ends on {runtime.end}"
            yield RULE.at(team.at / "runtimes", message, notes=notes, cause=cause)


CHECK = DatedCheck(RULE, find)
