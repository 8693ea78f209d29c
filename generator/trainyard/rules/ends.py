"""Runtimes that end: the only rules of this stage that look at the day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._iterate import active

ENDED_RUNTIME = Rule(
    id="change/ended-runtime",
    severity=Severity.ERROR,
    summary="No team lists a runtime after its last day.",
    why="""
        Its owner promised that it is gone: nobody patches its image any more, and jobs go on with
        it all the same.
    """,
    fix="List the newer version instead; remove the runtime's file in a later change.",
)
DEPRECATED_RUNTIME = Rule(
    id="runtime/deprecated-runtime",
    severity=Severity.WARNING,
    summary="Teams list runtimes that are not deprecated.",
    why="""
        Trainer warns the team's people at each submission (seen with Trainer 2.3.0), and after the
        runtime's last day this is an error, which stops every other change of the profiles too.
    """,
    fix="""
        List the newer version, or waive this until the team has moved, no longer than to the
        runtime's last day.
    """,
)
RULES = (ENDED_RUNTIME, DEPRECATED_RUNTIME)


def check_ends(platform: Platform, today: str) -> Iterator[Diagnostic]:
    """Compare the last day of each runtime that a team lists with today.

    Args:
        platform: whose teams.
        today: ISO date; empty for a day before all others.
    """
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team in active(platform):
        for runtime in (known[name] for name in team.runtimes if known[name].end):
            notes = [Note("said here", runtime.at / "deprecated" / "end")]
            if runtime.end < today:
                message = (
                    f"runtime `{runtime.name}`, which team {team.name} lists, ended on "
                    f"{runtime.end}"
                )
                cause = f"runtime `{runtime.name}`, which teams list, ended on {runtime.end}"
                yield ENDED_RUNTIME.at(team.at / "runtimes", message, notes=notes, cause=cause)
            else:
                message = (
                    f"runtime `{runtime.name}`, which team {team.name} lists, ends on {runtime.end}"
                )
                cause = f"runtime `{runtime.name}`, which teams list, ends on {runtime.end}"
                yield DEPRECATED_RUNTIME.at(team.at / "runtimes", message, notes=notes, cause=cause)
