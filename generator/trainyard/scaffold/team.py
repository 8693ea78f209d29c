"""Plan a new team: its profile, and its permanent numbers in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from trainyard.diagnostics import Diagnostic
from trainyard.model.cluster import Cluster
from trainyard.model.named import by_name
from trainyard.model.names import namespace
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.runtime import Runtime
from trainyard.model.unit import Unit
from trainyard.rules.runtime.none_for_pool import RULE as NO_RUNTIME
from trainyard.scaffold.numbers import new_holding, new_ids, with_numbers
from trainyard.scaffold.profile import profile_path, team_profile
from trainyard.scaffold.selection import choice, chosen_cluster, unknown_pool
from trainyard.scaffold.several import Numbered
from trainyard.scaffold.team_name import Remembered, check_name
from trainyard.scaffold.team_request import TeamRequest
from trainyard.yaml_io.source import Profiles


@dataclass(frozen=True, slots=True)
class TeamPlan(Numbered):
    """The files of a new team, before they are written."""

    request: TeamRequest
    pool: str


def plan_team(
    profiles: Profiles, platform: Platform, request: TeamRequest, remembered: Remembered
) -> tuple[TeamPlan | None, tuple[Diagnostic, ...]]:
    """Return the profile of a new team and its entries in the ledger.

    Args:
        profiles: as they were read.
        platform: that they describe.
        request: the team that is wanted.
        remembered: numbers and user ids in the lockfile of each cluster.

    Returns:
        The plan, or None and the reasons why there is none.

    Raises:
        TreeError: a comment in the ledger would be lost.
    """
    problems = [*check_name(platform, request.name, remembered)]
    cluster, pool, unknown_places = _place(platform, request)
    problems += unknown_places
    if cluster is None or pool is None:
        return None, tuple(problems)
    runtimes = request.runtimes or _runtimes(platform, pool, request)
    if not runtimes:
        message = f"no runtime runs on hardware `{pool.hardware.name}`"
        problems.append(NO_RUNTIME.at(pool.at.key(), message))
    former = [*chain.from_iterable(remembered.values())]
    fabric = pool.rail_fabric
    holding, exhausted = new_holding(platform, fabric, request.name, request.since, former)
    problems += exhausted
    if problems:
        return None, tuple(problems)
    ids = new_ids(platform, cluster, namespace(request.name), request.since, former)
    ledger = profiles.allocations.content
    profile = team_profile(request, cluster, pool, runtimes)
    numbers = with_numbers(ledger, cluster.name, holding, ids)
    files = {profile_path(request.name): profile, **numbers}
    changed = (cluster.name,)
    return TeamPlan(files, ledger, changed, request.name, holding, ids, request, pool.name), ()


def _place(
    platform: Platform, request: TeamRequest
) -> tuple[Cluster | None, Pool | None, tuple[Diagnostic, ...]]:
    """Return the cluster and the pool of a new team, or the reasons why one is unknown."""
    cluster, problems = chosen_cluster(platform, request.cluster)
    if cluster is None:
        return None, None, (*problems, *unknown_pool(request.pool, platform))
    at, pools = cluster.at / "pools", by_name(cluster.pools)
    return cluster, *choice("node pool", request.pool, pools, at)


def _runtimes(platform: Platform, pool: Pool, request: TeamRequest) -> tuple[str, ...]:
    """Return the runtimes that a new team on a pool gets.

    A runtime that ends, mounts a claim that a new team lacks, or whose smallest job does not fit is
    used only without others.
    """
    every = [runtime for runtime in platform.runtimes if pool.hardware.name in runtime.hardware]
    plain = [*filter(_is_plain, every)] or every
    fitting = [runtime for runtime in plain if _fits(runtime.smallest_job, request)]
    return tuple(by_name(fitting or plain))


def _is_plain(runtime: Runtime) -> bool:
    return not runtime.end and not runtime.initializers


def _fits(pods: int, request: TeamRequest) -> bool:
    """Return whether a job of some pods has room on own nodes, or a share divides into them."""
    if request.unit is Unit.NODES:
        return pods <= request.own
    return request.own % pods == 0
