"""Groups and users with a role, in a team or in the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.model.team import Team
from trainyard.rules._iterate import active


def cluster_roles(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Yield each role in the whole cluster with a group or user that has it."""
    for group in cluster.operators:
        yield "operator", group
    for group in cluster.auditors:
        yield "auditor", group


def team_roles(team: Team) -> Iterator[tuple[str, str, Pointer]]:
    """Yield each group or user that has a role in a team, with the role and its place."""
    for role, groups in team.groups.items():
        for group in groups:
            yield group, role, team.at / "groups" / role
    if team.debuggers:
        for group in team.debuggers.groups:
            yield group, "debugger", team.debuggers.at / "groups"


def all_roles(platform: Platform) -> Iterator[tuple[str, str, Pointer]]:
    """Yield who has a role in a team or in a cluster, with the role and its place."""
    for team in active(platform):
        yield from team_roles(team)
    for site in platform.sites:
        for role, entry in cluster_roles(site.cluster):
            yield entry, role, site.cluster.at / "roles" / role
