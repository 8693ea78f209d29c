"""Find teams that list a runtime after its last day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import DatedCheck
from trainyard.rules._iterate import listed_with_end

RULE = Rule(
    id="change/ended-runtime",
    severity=Severity.ERROR,
    summary="No team lists a runtime after its last day.",
    why="""
        Jobs keep running an image that is no longer patched: the runtime's owner announced its end
        for that day.
    """,
    fix="""
        List the newer version in the team's `runtimes`; remove the ended runtime's file in a later
        change.
    """,
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    for team, runtime in listed_with_end(platform):
        if runtime.end < today:
            message = (
                f"runtime `{runtime.name}`, which team {team.name} lists, ended on {runtime.end}"
            )
            notes = [Note("its last day is set here", runtime.at / "deprecated" / "end")]
            cause = f"runtime `{runtime.name}`, which teams list, ended on {runtime.end}"
            yield RULE.at(team.at / "runtimes", message, notes=notes, cause=cause)


CHECK = DatedCheck(RULE, find)
