"""Plan the numbers of a team on a further fabric."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import RailFabric
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.model.named import by_name
from trainyard.model.platform import Platform
from trainyard.rules.fabric.already_allocated import RULE as ALLOCATED
from trainyard.scaffold.numbers import new_holding, new_ids, with_numbers
from trainyard.scaffold.plan import Plan
from trainyard.scaffold.selection import choice, chosen_cluster, unknown
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


@dataclass(frozen=True, slots=True)
class AllocationPlan(Plan):
    """The ledger with a team's new numbers, before it is written.

    Args:
        ids: user ids of the team's namespace; None if it has some, or needs none.
    """

    holding: Holding
    ids: Ids | None


def plan_allocation(
    profiles: Profiles, platform: Platform, request: AllocationRequest, remembered: Remembered
) -> tuple[AllocationPlan | None, tuple[Diagnostic, ...]]:
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
    ids = new_ids(platform, cluster, request.team, request.since, former)
    ledger = profiles.allocations.content
    files = with_numbers(ledger, cluster.name, holding, ids)
    return AllocationPlan(files, ledger, (cluster.name,), holding, ids), ()


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
