"""A new team: its profile, and its line in the ledger with the partition or VLAN and addresses that it keeps."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TypeVar

from trainyard.diagnostics import Diagnostic, Pointer, TreeError
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import Fabric
from trainyard.model.holding import Holding
from trainyard.model.ids import UIDS, Ids, next_ids
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.team import Allocation
from trainyard.plainfile import read_regular
from trainyard.scaffold import rules
from trainyard.scaffold.allocate import Taken, next_block, next_segment
from trainyard.scaffold.init import LEDGER, SCAFFOLD, static_files
from trainyard.scaffold.install import put
from trainyard.scaffold.roundtrip import append
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.lookalikes import beyond_ascii
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.scalars import inline, is_typed
from trainyard.yaml_io.source import Profiles

T = TypeVar("T")
Remembered = Mapping[str, Collection[Holding | Ids]]
"""Cluster -> numbers and user ids that its lockfile remembers."""

_NAME = re.compile("[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
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
        """Its quota of the pool, as the profile has it."""
        return {"gpus": self.gpus} if self.gpus else {"nodes": self.nodes}


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """What is to be written.

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
        return _profile_path(self.request.name)


def plan_team(
    profiles: Profiles, platform: Platform, request: TeamRequest, remembered: Remembered
) -> tuple[TeamPlan | None, tuple[Diagnostic, ...]]:
    """Return what a new team's profile and line in the ledger would be.

    Args:
        profiles: as they were read.
        platform: what they say.
        request: the team that is wanted.
        remembered: what the lockfile of each cluster remembers.

    Returns:
        The plan, or None and why there is none.

    Raises:
        TreeError: a comment in the ledger would be lost.
    """
    problems = list(_check_name(platform, request.name, remembered))
    clusters = {site.name: site.cluster for site in platform.sites}
    cluster = _choose("cluster", request.cluster, clusters, Pointer("profiles/clusters"), problems)
    if cluster is None:
        _check_pool(request.pool, clusters.values(), problems)
        return None, tuple(problems)
    pools = {pool.name: pool for pool in cluster.pools}
    pool = _choose("node pool", request.pool, pools, cluster.at / "pools", problems)
    if pool is None:
        return None, tuple(problems)
    runtimes = _runtimes(platform, pool)
    if not runtimes:
        problems.append(
            rules.NO_RUNTIME.at(
                pool.at.key(), f"no runtime runs on hardware `{pool.hardware.name}`"
            )
        )
    former = [each for numbers in remembered.values() for each in numbers]
    taken: list[Allocation | Holding] = [*platform.allocations.values()]
    taken += (each for each in former if isinstance(each, Holding))
    holding = _holding(pool.fabric, request, taken, problems) if pool.fabric else None
    if problems:
        return None, tuple(problems)
    files = {_profile_path(request.name): _profile(request, cluster, pool, runtimes)}
    ids = _ids(platform, cluster, request, (each for each in former if isinstance(each, Ids)))
    ledger = profiles.allocations.content
    lines = {(holding.fabric, holding.team): holding.entry} if holding else {}
    lines |= {(UIDS, ids.namespace): ids.entry} if ids else {}
    for where, entry in lines.items():
        old = files.get(_ALLOCATIONS) or ledger or static_files()[LEDGER]
        files[_ALLOCATIONS] = append(old, (cluster.name, *where), entry)
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


def _runtimes(platform: Platform, pool: Pool) -> tuple[str, ...]:
    """Return the runtimes for a pool; those that end, or mount a claim that a new team has not, only without others."""
    every = [each for each in platform.runtimes if pool.hardware.name in each.hardware]
    usable = [each for each in every if not each.end and not each.initializers]
    return tuple(each.name for each in usable or every)


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


def _profile_path(name: str) -> str:
    return f"teams/{name}.yaml"


def _check_name(platform: Platform, name: str, remembered: Remembered) -> Iterator[Diagnostic]:
    at = Pointer(f"profiles/{_profile_path(name)}")
    if not _NAME.fullmatch(name) or is_typed(name):
        yield rules.BAD_TEAM_NAME.at(
            at, f"`{name}` can't be the name of a team{beyond_ascii(name)}"
        )
    elif name in names.DEVICES:
        yield rules.BAD_TEAM_NAME.at(at, f"`{name}` is the name of a device on Windows")
    elif name in names.RESERVED_TEAMS:
        yield rules.BAD_TEAM_NAME.at(at, f"`{name}` is a name that Trainyard keeps for itself")
    there = next((team.at for team in platform.teams if team.name == name), None)
    held = next(
        (held.at for (_, _, team), held in sorted(platform.allocations.items()) if team == name),
        None,
    )
    if there:
        yield rules.TEAM_EXISTS.at(there, f"there is a team `{name}` already")
    elif held:
        yield rules.TEAM_EXISTS.at(
            held.key(), f"there was a team `{name}`: it still holds its allocation"
        )
    elif former := next(
        (cluster for cluster, each in remembered.items() if name in map(_holder, each)), ""
    ):
        message = (
            f"there was a team `{name}`: the lockfile of cluster `{former}` remembers its numbers"
        )
        yield rules.TEAM_EXISTS.at(Pointer(f"overlays/{former}"), message)
    elif named := next(
        (each for each in sorted(platform.ids) if name in map(_holder, platform.ids[each])), ""
    ):
        at = platform.allocations_at / named / UIDS / names.namespace(name)
        yield rules.TEAM_EXISTS.at(
            at.key(), f"there was a team `{name}`: its namespace still has its user ids"
        )


def _holder(number: Holding | Ids) -> str:
    """Return the team that has a number, or the one whose namespace would have the name of one that has user ids."""
    return (
        number.team
        if isinstance(number, Holding)
        else number.namespace.removeprefix(names.TEAM_PREFIX)
    )


def _choose(
    kind: str, asked: str, known: Mapping[str, T], at: Pointer, problems: list[Diagnostic]
) -> T | None:
    """Return what is asked for, or the only one there is; else note what could be asked for."""
    if asked in known:
        return known[asked]
    if not asked and len(known) == 1:
        return next(iter(known.values()))
    message = (
        f"there is no {kind} `{asked}`" if asked else f"which {kind} the team is for must be said"
    )
    there = f"there is: {', '.join(sorted(known))}" if known else f"no {kind} is defined yet"
    hint = there if asked or not known else f"Add `--{kind.removeprefix('node ')} NAME`; {there}"
    problems.append(rules.UNKNOWN_PLACE.at(at, message, hint=hint))
    return None


def _check_pool(asked: str, clusters: Collection[Cluster], problems: list[Diagnostic]) -> None:
    """Note that the pool is wrong or missing whichever cluster is named, so that one run reports all."""
    pools = {pool.name: pool for cluster in clusters for pool in cluster.pools}
    if clusters and (asked or all(len(cluster.pools) > 1 for cluster in clusters)):
        _choose("node pool", asked, pools, Pointer("profiles/clusters"), problems)


def _holding(
    fabric: Fabric, request: TeamRequest, taken: Taken, problems: list[Diagnostic]
) -> Holding | None:
    link = fabric.link
    segment, block = next_segment(fabric, taken), next_block(fabric, taken)
    if segment is None:
        first, last = link.display(fabric.first_segment), link.display(fabric.last_segment)
        message = f"no {link.segment} is left from {first} to {last}"
        problems.append(rules.RANGE_EXHAUSTED.at(fabric.at / link.ranges, message))
    if block is None:
        message = f"no block of length /{fabric.block} is left in {fabric.addresses}"
        problems.append(rules.RANGE_EXHAUSTED.at(fabric.at / "addresses", message))
    if segment is None or block is None:
        return None
    return Holding(fabric.name, request.name, link.field, segment, block, request.since)


def _ids(
    platform: Platform, cluster: Cluster, request: TeamRequest, former: Iterable[Ids]
) -> Ids | None:
    """Return user ids that no namespace of any cluster ever had, since clusters may share a file server."""
    if not cluster.release.job_scc:
        return None
    taken = (*former, *(each for every in platform.ids.values() for each in every))
    return next_ids(names.namespace(request.name), taken, request.since)


def _profile(
    request: TeamRequest, cluster: Cluster, pool: Pool, runtimes: tuple[str, ...]
) -> bytes:
    """Return the team's profile; a line whose value the cluster doesn't have is left out."""
    values = {
        "name": request.name,
        "domain": cluster.settings.domain,
        "runtimes": ", ".join(map(inline, runtimes)),
        "cohort": next((inline(cohort.name) for cohort in cluster.cohorts), ""),
        "cluster": inline(cluster.name),
        "pool": inline(pool.name),
        "quota": "".join(f"{unit}: {number}" for unit, number in request.quota.items()),
        "storage": next((inline(each.name) for each in cluster.storage if each.kind == "nfs"), ""),
    }
    lines = map(
        Template, (SCAFFOLD / "team.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    )
    text = "".join(
        line.substitute(values)
        for line in lines
        if all(values[each] for each in line.get_identifiers())
    )
    source, found = read("", text.encode())
    assert not found, found
    assert source.value["quota"] == {cluster.name: {pool.name: request.quota}}
    return text.encode()
