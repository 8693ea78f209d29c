"""Find teams with names of the platform's."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="names/reserved-team",
    severity=Severity.ERROR,
    summary="No team is called like a part of the platform.",
    why="""
        Folders, applications and queues are named after the team: reviewers and selectors would
        take it for the platform.
    """,
    fix="Rename the team's file.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in platform.teams:
        if team.name in names.RESERVED_TEAMS or team.name.startswith(("kube-", "openshift-")):
            yield RULE.at(team.at, f"a team can't be called `{team.name}`")


CHECK = Check(RULE, find)
