"""Find groups that have roles in two teams, each pair of teams once."""

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
    summary="A group has roles in only one team.",
    why="""
        Members of the group read and submit in both namespaces (seen with Kubernetes 1.36.3), so a
        job can copy one team's files to the other team.
    """,
    fix="Create a group for each team, or waive this rule in profiles/waivers.yaml with a reason.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[str, tuple[Team, str]] = {}
    for team in active(platform):
        own = {group: role for role, groups in team.groups.items() for group in groups}
        for group, role in own.items():
            other, other_role = known.setdefault(group, (team, role))
            if other is not team:
                place = other.at / "groups" / other_role
                notes = [Note(f"its role in team {other.name}", place)]
                message = (
                    f"group `{group}` has roles in two teams: {role} of {team.name}, "
                    f"{other_role} of {other.name}"
                )
                yield RULE.at(team.at / "groups" / role, message, notes=notes)


CHECK = Check(RULE, find)
