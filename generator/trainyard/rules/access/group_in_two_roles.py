"""Find groups with a second role in their team."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/group-in-two-roles",
    severity=Severity.WARNING,
    summary="A group has one role in a team.",
    why="""
        Roles add up: the group has the rights of the stronger one (seen with Kubernetes 1.36.3),
        whatever the weaker one suggests in review.
    """,
    fix="Take the weaker role away.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        known: dict[str, str] = {}
        for role, groups in team.groups.items():
            for group in groups:
                first = known.setdefault(group, role)
                if first != role:
                    message = f"`{group}` is both {first} and {role} of team {team.name}"
                    notes = [Note(f"{first} here", team.at / "groups" / first)]
                    yield RULE.at(team.at / "groups" / role, message, notes=notes)


CHECK = Check(RULE, find)
