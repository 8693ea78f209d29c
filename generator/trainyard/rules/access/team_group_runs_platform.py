"""Find groups that have roles both in a team and in the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.people import quoted
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.access._roles import cluster_roles, team_roles

RULE = Rule(
    id="access/team-group-runs-platform",
    severity=Severity.WARNING,
    summary="Groups that operate or audit a cluster have no role in a team on it.",
    why="""
        Every member of the team's group reads what all teams do; operators also read their logs and
        delete their jobs (seen with Kubernetes 1.36.3). Each new member of the team gets these
        rights too.
    """,
    fix="Create a group for these few people, and name it under `roles` in the cluster's profile.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        in_teams = {
            group: (tenant.name, role, place)
            for tenant in site.tenants
            for group, role, place in team_roles(tenant.team)
        }
        for role, group in cluster_roles(site.cluster):
            if group in in_teams:
                team, team_role, place = in_teams[group]
                message = (
                    f"{quoted(group)} is {role} of cluster {site.name} and {team_role} of team "
                    f"{team}"
                )
                notes = [Note(f"its role in team {team}", place)]
                yield RULE.at(site.cluster.at / "roles" / role, message, notes=notes)


CHECK = Check(RULE, find)
