"""Plan a new team: its profile, and its permanent numbers in the ledger."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer, TreeError
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.holding import Holding
from trainyard.model.ids import UIDS, Ids, next_ids
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.team import Allocation
from trainyard.plainfile import read_regular
from trainyard.scaffold import rules
from trainyard.scaffold.allocate import next_holding
from trainyard.scaffold.init import LEDGER, static_files
from trainyard.scaffold.install import put
from trainyard.scaffold.profile import profile_path, team_profile
from trainyard.scaffold.roundtrip import append
from trainyard.scaffold.selection import chosen, unknown, unknown_pool
from trainyard.scaffold.team_name import Remembered, check_name
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.source import Profiles

_ALLOCATIONS = "allocations.yaml"


@dataclass(frozen=True, slots=True)
class TeamRequest:
    """The team that is wanted.

    Args:
        nodes: its own, of one pool.
        gpus: its own, instead of nodes; 0 for none.
        cluster, pool: needed only where there are several.
        since: ISO date of today, written beside its numbers; empty to leave it out.
    """

    name: str
    nodes: int
    gpus: int = 0
    cluster: str = ""
    pool: str = ""
    since: str = ""

    @property
    def quota(self) -> dict[str, int]:
        """Its quota of the pool, as in the profile."""
        return {"gpus": self.gpus} if self.gpus else {"nodes": self.nodes}


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """The files of a new team, before they are written.

    Args:
        files: content by path below the profiles: the team's profile, and the ledger if the team
            gets numbers.
        ledger: content that the ledger must still have.
        holding: the numbers; None on a pool without fabric.
        ids: user ids of its namespace; None where the cluster's namespaces have no ranges, or none
            is left.
    """

    request: TeamRequest
    cluster: str
    pool: str
    files: Mapping[str, bytes]
    ledger: bytes
    holding: Holding | None
    ids: Ids | None

    @property
    def profile(self) -> str:
        """Path of the team's profile."""
        return profile_path(self.request.name)


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
    runtimes = _runtimes(platform, pool)
    if not runtimes:
        message = f"no runtime runs on hardware `{pool.hardware.name}`"
        problems.append(rules.NO_RUNTIME.at(pool.at.key(), message))
    former = [*chain.from_iterable(remembered.values())]
    holding, exhausted = _holding(platform, pool, request, former)
    problems += exhausted
    if problems:
        return None, tuple(problems)
    ids = _ids(platform, cluster, request, former)
    files = {
        profile_path(request.name): team_profile(
            request.name, request.quota, cluster, pool, runtimes
        )
    }
    ledger = profiles.allocations.content
    files |= _with_numbers(ledger, cluster.name, holding, ids)
    return TeamPlan(request, cluster.name, pool.name, files, ledger, holding, ids), ()


def write_team(root: Path, plan: TeamPlan) -> tuple[Path, ...]:
    """Write a team's profile and its lines in the ledger, all or none.

    Returns:
        The files.

    Raises:
        TreeError: a file can't be written, or changed since it was read; nothing is changed.
    """
    gives = _ALLOCATIONS in plan.files
    if gives:
        _check_unchanged(root / _ALLOCATIONS, plan.ledger)
    put(root, plan.files, [plan.profile], _ALLOCATIONS if gives else "")
    return tuple(root / path for path in plan.files)


def _place(
    platform: Platform, request: TeamRequest
) -> tuple[Cluster | None, Pool | None, tuple[Diagnostic, ...]]:
    """Return the cluster and the pool of a new team, or the reasons why one is unknown."""
    clusters = {site.name: site.cluster for site in platform.sites}
    cluster = chosen(request.cluster, clusters)
    if cluster is None:
        at = Pointer("profiles/clusters")
        problem = unknown("cluster", request.cluster, clusters, at)
        return None, None, (problem, *unknown_pool(request.pool, clusters.values()))
    pools = {pool.name: pool for pool in cluster.pools}
    pool = chosen(request.pool, pools)
    if pool is None:
        at = cluster.at / "pools"
        return cluster, None, (unknown("node pool", request.pool, pools, at),)
    return cluster, pool, ()


def _runtimes(platform: Platform, pool: Pool) -> tuple[str, ...]:
    """Return the runtimes that a new team on a pool gets.

    A runtime that ends, or mounts a claim that a new team lacks, is used only without others.
    """
    every = [each for each in platform.runtimes if pool.hardware.name in each.hardware]
    usable = [each for each in every if not each.end and not each.initializers]
    return tuple(each.name for each in usable or every)


def _holding(
    platform: Platform, pool: Pool, request: TeamRequest, former: Collection[Holding | Ids]
) -> tuple[Holding | None, tuple[Diagnostic, ...]]:
    """Return the numbers of a new team on the pool's fabric; None without a fabric."""
    if pool.fabric is None:
        return None, ()
    taken: list[Allocation | Holding] = [*platform.allocations.values()]
    taken += (each for each in former if isinstance(each, Holding))
    return next_holding(pool.fabric, request.name, request.since, taken)


def _ids(
    platform: Platform, cluster: Cluster, request: TeamRequest, former: Collection[Holding | Ids]
) -> Ids | None:
    """Return user ids that no namespace ever had.

    They differ on all clusters, since clusters may share a file server.
    """
    if not cluster.release.job_scc:
        return None
    taken = [each for each in former if isinstance(each, Ids)]
    for current in platform.ids.values():
        taken += current
    return next_ids(names.namespace(request.name), taken, request.since)


def _with_numbers(
    ledger: bytes, cluster: str, holding: Holding | None, ids: Ids | None
) -> dict[str, bytes]:
    """Return the ledger by its path, with a team's numbers added; nothing for a team without."""
    if not holding and not ids:
        return {}
    content = ledger or static_files()[LEDGER]
    if holding:
        content = append(content, (cluster, holding.fabric, holding.team), holding.entry)
    if ids:
        content = append(content, (cluster, UIDS, ids.namespace), ids.entry)
    return {_ALLOCATIONS: content}


def _check_unchanged(ledger: Path, content: bytes) -> None:
    try:
        now = read_regular(ledger.parent, ledger.name, MAX_BYTES)
    except FileNotFoundError:
        now = b""
    except OSError as error:
        raise TreeError(f"{ledger} can't be read: {error.strerror}") from error
    if now != content:
        raise TreeError(
            f"{ledger} changed while the team was added; nothing is written, so run the command "
            "again"
        )
