"""Find groups of teams among those with a role in the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="access/team-group-runs-platform",
    severity=Severity.WARNING,
    summary="Groups that run or audit a cluster have no role in a team on it.",
    why="""
        Everybody of that team reads what all teams do: an operator their logs too, and operators
        delete their jobs (seen with Kubernetes 1.36.3). What was meant for a few is given with each
        new member of the team.
    """,
    fix="Make a group of the few, beside the team's.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        teams = {
            group: (tenant.team, role)
            for tenant in site.tenants
            for role, groups in tenant.team.groups.items()
            for group in groups
        }
        for role, groups in (
            ("operator", site.cluster.operators),
            ("auditor", site.cluster.auditors),
        ):
            for group in (each for each in groups if each in teams):
                team, own = teams[group]
                message = (
                    f"`{group}` is {role} of cluster {site.name} and {own} of team {team.name}"
                )
                notes = [Note(f"{own} of team {team.name}", team.at / "groups" / own)]
                yield RULE.at(site.cluster.at / "roles" / role, message, notes=notes)


CHECK = Check(RULE, find)
