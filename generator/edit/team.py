"""A new team: its profile, and the partition and addresses that it keeps for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TypeVar

from generator.diagnostics import Diagnostic, Pointer, TreeError
from generator.dialect.bytescan import MAX_BYTES
from generator.dialect.lookalikes import beyond_ascii
from generator.dialect.reader import read
from generator.dialect.scalars import inline, is_typed
from generator.edit import rules
from generator.edit.allocate import next_block, next_segment
from generator.edit.init import SCAFFOLD, scaffold
from generator.edit.place import put
from generator.edit.roundtrip import append
from generator.model import names
from generator.model.cluster import Cluster
from generator.model.fabric import Fabric
from generator.model.link import Link
from generator.model.platform import Platform
from generator.model.pool import Pool
from generator.model.team import Allocation
from generator.plainfile import read_regular

T = TypeVar("T")
_NAME = re.compile("[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
_ALLOCATIONS = "allocations.yaml"


@dataclass(frozen=True, slots=True)
class TeamRequest:
    """The team that is wanted.

    Args:
        nodes: its own, of one pool; whether the pool has them is for `validate` to say.
        cluster, pool: needed only where there are several.
    """

    name: str
    nodes: int
    cluster: str = ""
    pool: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """What was written.

    Args:
        files: the team's profile, and the allocations if it holds some now.
        allocation: None on a pool without fabric.
        segment: its partition or VLAN, as people write it.
    """

    files: tuple[Path, ...]
    cluster: str
    pool: str
    allocation: Allocation | None
    segment: str


@dataclass(frozen=True, slots=True)
class _Plan:
    request: TeamRequest
    cluster: Cluster
    pool: Pool
    runtimes: tuple[str, ...]
    allocation: Allocation | None


def add_team(root: Path, platform: Platform, request: TeamRequest) -> tuple[Added | None, tuple[Diagnostic, ...]]:
    """Write a team's profile and allocation, both or none.

    Args:
        root: the profiles.
        platform: what they say now.
        request: the team that is wanted.

    Returns:
        What was written, or None and why nothing was.

    Raises:
        TreeError: a file can't be read or written, or a comment in the allocations would be lost; nothing is changed.
    """
    problems = list(_check_name(platform, request.name))
    clusters = {site.name: site.cluster for site in platform.sites}
    cluster = _choose("cluster", request.cluster, clusters, Pointer("profiles/clusters"), problems)
    if cluster is None:
        return None, tuple(problems)
    pools = {pool.name: pool for pool in cluster.pools}
    pool = _choose("node pool", request.pool, pools, cluster.at / "pools", problems)
    if pool is None:
        return None, tuple(problems)
    runtimes = tuple(each.name for each in platform.runtimes if pool.hardware.name in each.hardware)
    if not runtimes:
        problems.append(rules.NO_RUNTIME.at(pool.at.key(), f"no runtime runs on hardware `{pool.hardware.name}`"))
    allocation = _allocate(platform, cluster, pool.fabric, request.name, problems) if pool.fabric else None
    if problems:
        return None, tuple(problems)
    return _write(root, _Plan(request, cluster, pool, runtimes, allocation)), ()


def _check_name(platform: Platform, name: str) -> Iterator[Diagnostic]:
    at = Pointer(f"profiles/teams/{name}.yaml")
    if not _NAME.fullmatch(name) or is_typed(name):
        yield rules.BAD_TEAM_NAME.at(at, f"`{name}` can't be the name of a team{beyond_ascii(name)}")
    elif name in names.DEVICES:
        yield rules.BAD_TEAM_NAME.at(at, f"`{name}` is the name of a device on Windows")
    elif name in names.RESERVED_TEAMS:
        yield rules.BAD_TEAM_NAME.at(at, f"`{name}` is a name that Trainyard keeps for itself")
    there = next((team.at for team in platform.teams if team.name == name), None)
    held = next((held.at for (_, _, team), held in sorted(platform.allocations.items()) if team == name), None)
    if there:
        yield rules.TEAM_EXISTS.at(there, f"there is a team `{name}` already")
    elif held:
        yield rules.TEAM_EXISTS.at(held.key(), f"there was a team `{name}`: it still holds its allocation")


def _choose(kind: str, asked: str, known: Mapping[str, T], at: Pointer, problems: list[Diagnostic]) -> T | None:
    """Return what is asked for, or the only one there is; else note what could be asked for."""
    if asked in known:
        return known[asked]
    if not asked and len(known) == 1:
        return next(iter(known.values()))
    message = f"there is no {kind} `{asked}`" if asked else f"which {kind} the team is for must be said"
    hint = f"there is: {', '.join(sorted(known))}" if known else f"no {kind} is defined yet"
    problems.append(rules.UNKNOWN_PLACE.at(at, message, hint=hint))
    return None


def _allocate(
    platform: Platform, cluster: Cluster, fabric: Fabric, team: str, problems: list[Diagnostic]
) -> Allocation | None:
    taken = tuple(platform.allocations.values())
    link = fabric.link
    segment, block = next_segment(fabric, taken), next_block(fabric, taken)
    if segment is None:
        first, last = link.told(fabric.first_segment), link.told(fabric.last_segment)
        message = f"no {link.segment} is left from {first} to {last}"
        problems.append(rules.RANGE_EXHAUSTED.at(fabric.at / link.ranges, message))
    if block is None:
        message = f"no block of length /{fabric.block} is left in {fabric.addresses}"
        problems.append(rules.RANGE_EXHAUSTED.at(fabric.at / "addresses", message))
    if segment is None or block is None:
        return None
    return Allocation(Pointer(f"profiles/{_ALLOCATIONS}", (cluster.name, fabric.name, team)), segment, block)


def _write(root: Path, plan: _Plan) -> Added:
    profile = f"teams/{plan.request.name}.yaml"
    files = {profile: _profile(plan)}
    if plan.allocation and plan.pool.fabric:
        files[_ALLOCATIONS] = _allocations(root, plan.pool.fabric.link, plan.allocation)
    put(root, files, [profile], _ALLOCATIONS if plan.allocation else "")
    segment = ""
    if plan.allocation and plan.pool.fabric:
        link = plan.pool.fabric.link
        segment = f"{link.segment} {link.told(plan.allocation.segment)}"
    return Added(tuple(root / path for path in files), plan.cluster.name, plan.pool.name, plan.allocation, segment)


def _profile(plan: _Plan) -> bytes:
    """Return the team's profile; a line whose value the cluster doesn't have is left out."""
    values = {
        "name": plan.request.name,
        "domain": plan.cluster.settings.domain,
        "runtimes": ", ".join(map(inline, plan.runtimes)),
        "cohort": next((inline(cohort.name) for cohort in plan.cluster.cohorts), ""),
        "cluster": inline(plan.cluster.name),
        "pool": inline(plan.pool.name),
        "nodes": str(plan.request.nodes),
        "storage": next((inline(each.name) for each in plan.cluster.storage if each.kind == "nfs"), ""),
    }
    lines = map(Template, (SCAFFOLD / "team.yaml").read_text(encoding="utf-8").splitlines(keepends=True))
    text = "".join(line.substitute(values) for line in lines if all(values[each] for each in line.get_identifiers()))
    source, found = read("", text.encode())
    assert not found, found
    assert source.value["quota"] == {plan.cluster.name: {plan.pool.name: {"nodes": plan.request.nodes}}}
    return text.encode()


def _allocations(root: Path, link: Link, allocation: Allocation) -> bytes:
    try:
        content = read_regular(root, _ALLOCATIONS, MAX_BYTES)
    except FileNotFoundError:
        content = scaffold()[f"profiles/{_ALLOCATIONS}"]
    except OSError as error:
        raise TreeError(f"{root / _ALLOCATIONS} can't be read: {error.strerror}") from error
    held = link.told(allocation.segment) if link.segment == "partition" else allocation.segment
    entry = {link.field: held, "addresses": str(allocation.addresses)}
    return append(content, tuple(map(str, allocation.at.path)), entry)
