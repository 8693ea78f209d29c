"""Plan the numbers of a team on a further fabric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import RailFabric
from trainyard.model.named import by_name
from trainyard.model.platform import Platform
from trainyard.rules.fabric.already_allocated import RULE as ALLOCATED
from trainyard.scaffold.numbers import new_holding, new_ids, with_numbers
from trainyard.scaffold.selection import choice, chosen_cluster, unknown
from trainyard.scaffold.several import Numbered
from trainyard.scaffold.team_name import Remembered
from trainyard.yaml_io.source import Profiles


@dataclass(frozen=True, slots=True)
class AllocationRequest:
    """The numbers that are wanted.

    Args:
        fabric: needed only where the cluster has several.
        since: ISO date of today, written beside the numbers; empty to leave it out.
    """

    team: str
    cluster: str
    fabric: str = ""
    since: str = ""


def plan_allocation(
    profiles: Profiles, platform: Platform, request: AllocationRequest, remembered: Remembered
) -> tuple[Numbered | None, tuple[Diagnostic, ...]]:
    """Return the ledger with a team's numbers on a fabric.

    Args:
        profiles: as they were read.
        platform: that they describe.
        request: the numbers that are wanted.
        remembered: numbers and user ids in the lockfile of each cluster.

    Returns:
        The plan, or None and the reasons why there is none.

    Raises:
        TreeError: a comment in the ledger would be lost.
    """
    cluster, fabric, problems = _place(platform, request)
    problems += _team_problems(platform, request.team)
    if cluster is None or fabric is None or problems:
        return None, problems
    if held := platform.allocations.get((cluster.name, fabric.name, request.team)):
        message = f"team {request.team} has numbers on fabric `{fabric.name}` of {cluster.name}"
        return None, (ALLOCATED.at(held.at.key(), message),)
    former = [*chain.from_iterable(remembered.values())]
    holding, exhausted = new_holding(platform, fabric, request.team, request.since, former)
    if holding is None:
        return None, exhausted
    (team,) = (team for team in platform.teams if team.name == request.team)
    ids = new_ids(platform, cluster, team.spaces[0].namespace, request.since, former)
    ledger = profiles.allocations.content
    files = with_numbers(ledger, cluster.name, holding, ids)
    return Numbered(files, ledger, (cluster.name,), request.team, holding, ids), ()


def without_numbers(
    platform: Platform, request: AllocationRequest
) -> tuple[list[AllocationRequest], tuple[Diagnostic, ...]]:
    """Return a request for each team with quota on a fabric and no numbers there.

    Args:
        platform: its teams.
        request: the place; its team does not matter.

    Returns:
        The requests, and the reasons why the place is unknown.
    """
    cluster, fabric, problems = _place(platform, request)
    if cluster is None or fabric is None:
        return [], problems
    here = (cluster.name, fabric.name)
    held = {team for place, name, team in platform.allocations if (place, name) == here}
    teams = [team for team in _on(platform, cluster, fabric) if team not in held]
    return [replace(request, team=team) for team in teams], ()


def _on(platform: Platform, cluster: Cluster, fabric: RailFabric) -> Iterator[str]:
    """Yield the teams with quota on a fabric."""
    (site,) = (site for site in platform.sites if site.name == cluster.name)
    for tenant in site.tenants:
        if any(flavor.pool.rail_fabric is fabric for flavor in tenant.flavors):
            yield tenant.name


def _place(
    platform: Platform, request: AllocationRequest
) -> tuple[Cluster | None, RailFabric | None, tuple[Diagnostic, ...]]:
    """Return the cluster and the fabric, or the reasons why one is unknown."""
    cluster, problems = chosen_cluster(platform, request.cluster)
    if cluster is None:
        return None, None, problems
    at, fabrics = cluster.at / "fabrics", by_name(cluster.rail_fabrics)
    return cluster, *choice("fabric", request.fabric, fabrics, at)


def _team_problems(platform: Platform, name: str) -> tuple[Diagnostic, ...]:
    """Return the finding that a team does not exist; a retired one gets no numbers."""
    teams = by_name(team for team in platform.teams if team.state != "retired")
    at = Pointer("profiles/teams")
    return () if name in teams else (unknown("team", name, teams, at),)
