"""Find groups and users that have two roles in one team."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.people import quoted
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/group-in-two-roles",
    severity=Severity.WARNING,
    summary="A group or user has only one role in a team.",
    why="""
        It gets the rights of the stronger role (seen with Kubernetes 1.36.3), because roles
        add up. A reviewer who reads only the weaker entry expects less.
    """,
    fix="Remove it from the weaker role under `groups` in the team's profile.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        known: dict[str, str] = {}
        for role, groups in team.groups.items():
            for group in groups:
                first = known.setdefault(group, role)
                if first != role:
                    message = f"{quoted(group)} has two roles in team {team.name}: {first}, {role}"
                    notes = [Note(f"its role {first}", team.at / "groups" / first)]
                    yield RULE.at(team.at / "groups" / role, message, notes=notes)


CHECK = Check(RULE, find)
