"""Find egress rules and name servers in namespaces of teams."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.isolation._egress import reached_namespaces

RULE = Rule(
    id="isolation/egress-reaches-a-tenant",
    severity=Severity.ERROR,
    summary="No egress rule leads to a team's namespace, and no name servers are in one.",
    why="""
        Every team could send to the pods of that team, on ports that its jobs listen on: an egress
        rule applies to all teams.
    """,
    fix="Move the shared service to a namespace that belongs to no team.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    tenants = {space.namespace: team for team in platform.teams for space in team.spaces}
    for site in platform.sites:
        for namespace, opener, at in reached_namespaces(site.cluster):
            if namespace in tenants:
                team = tenants[namespace]
                message = f"{opener} lets every team reach the namespace of team {team.name}"
                yield RULE.at(at, message, notes=[Note(f"team {team.name}", team.at)])


CHECK = Check(RULE, find)
