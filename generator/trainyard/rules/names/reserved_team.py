"""Find teams with the name of a part of the platform."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="names/reserved-team",
    severity=Severity.ERROR,
    summary="No team has the name of a part of the platform.",
    why="""
        Reviewers and selectors would take the team's folders, applications and queues for the
        platform's, because these are named after the team.
    """,
    fix="Choose another name; the name is that of the team's file.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in platform.teams:
        if team.name in names.RESERVED_TEAMS or team.name.startswith(("kube-", "openshift-")):
            yield RULE.at(team.at, f"a team cannot be named `{team.name}`: the name is reserved")
        elif team.folder in names.RESERVED_TEAMS:
            message = f"a team cannot have the folder `{team.folder}`: the name is reserved"
            yield RULE.at(team.at / "folder", message)


CHECK = Check(RULE, find)
