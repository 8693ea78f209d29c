"""Find groups of an earlier team among those of a later one; each pair once."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import Team
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/group-in-two-teams",
    severity=Severity.WARNING,
    summary="A group has roles in one team only.",
    why="""
        Its people read and submit in both namespaces (seen with Kubernetes 1.36.3), and a job can
        carry one team's files into the other.
    """,
    fix="Make a group for each team, or waive this rule with the reason.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[str, tuple[Team, str]] = {}
    for team in active(platform):
        own = {group: role for role, groups in team.groups.items() for group in groups}
        for group, role in own.items():
            other, where = known.setdefault(group, (team, role))
            if other is not team:
                notes = [Note(f"{where} of team {other.name}", other.at / "groups" / where)]
                message = (
                    f"`{group}` is {role} of team {team.name} and {where} of team {other.name}"
                )
                yield RULE.at(team.at / "groups" / role, message, notes=notes)


CHECK = Check(RULE, find)
