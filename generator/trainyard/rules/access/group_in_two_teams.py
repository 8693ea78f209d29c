"""Find groups and users that have roles in two teams, each pair of teams once."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.people import quoted
from trainyard.model.platform import Platform
from trainyard.model.team import Team
from trainyard.rules._check import Check
from trainyard.rules._iterate import active
from trainyard.rules.access._roles import team_roles

RULE = Rule(
    id="access/group-in-two-teams",
    severity=Severity.WARNING,
    summary="A group or user has roles in only one team.",
    why="""
        Its members have both roles (seen with Kubernetes 1.36.3), so they can carry one
        team's files to the other team. An admin or user submits jobs in the team's namespaces, a
        viewer reads there, and a debugger runs commands in the pods of the team's jobs.
    """,
    fix="Create a group for each team, or waive this rule in profiles/waivers.yaml with a reason.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[str, tuple[Team, str, Pointer]] = {}
    for team in active(platform):
        own = {group: (role, place) for group, role, place in team_roles(team)}
        for group, (role, place) in own.items():
            other, other_role, there = known.setdefault(group, (team, role, place))
            # An expert debugs jobs of several teams, and submits none.
            if other is not team and not role == other_role == "debugger":
                notes = [Note(f"its role in team {other.name}", there)]
                message = (
                    f"{quoted(group)} has roles in two teams: {role} of {team.name}, "
                    f"{other_role} of {other.name}"
                )
                yield RULE.at(place, message, notes=notes)


CHECK = Check(RULE, find)
