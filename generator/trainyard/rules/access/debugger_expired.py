"""Find teams whose debuggers have passed their last day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.people import quoted
from trainyard.model.platform import Platform
from trainyard.rules._check import DatedCheck
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/debugger-expired",
    severity=Severity.ERROR,
    summary="No team has debuggers after their last day (`until`).",
    why="""
        The groups keep the role (seen with Kubernetes 1.36.3): a RoleBinding has no last day, and
        nothing on the cluster reads this one. They run commands in the pods of the team's jobs, and
        read what these mount.
    """,
    fix="Remove `debuggers` from the team's profile, or agree on a later day.",
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    for team in active(platform):
        if team.debuggers and team.debuggers.until < today:
            ended = team.debuggers
            groups = ", ".join(map(quoted, ended.groups))
            message = f"the role debugger of {groups} in team {team.name} ended on {ended.until}"
            note = Note(f"the reason for the role was: {ended.reason}", ended.at / "reason")
            yield RULE.at(ended.at / "until", message, notes=[note])


CHECK = DatedCheck(RULE, find)
