"""Groups with a role, in a team or in the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.team import Team


def cluster_roles(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Yield each role in the whole cluster with a group that has it."""
    for group in cluster.operators:
        yield "operator", group
    for group in cluster.auditors:
        yield "auditor", group


def team_roles(team: Team) -> Iterator[tuple[str, str, Pointer]]:
    """Yield each group that has a role in a team, with the role and its place."""
    for role, groups in team.groups.items():
        for group in groups:
            yield group, role, team.at / "groups" / role
    if team.debuggers:
        for group in team.debuggers.groups:
            yield group, "debugger", team.debuggers.at / "groups"
