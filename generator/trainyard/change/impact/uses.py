"""Which namespaces may use which runtime on which nodes, and why one may no longer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model import names
from trainyard.model.identity import Identity, team_of
from trainyard.model.lookup import mapping, text
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.quantity import counted
from trainyard.model.queue import Flavor
from trainyard.model.runtime import Runtime
from trainyard.model.tenant import Tenant
from trainyard.model.unit import Unit

_VERSIONED = re.compile(r"(?P<runtime>.+?-v(?P<version>[0-9]+))-(?P<nodes>.+)", re.DOTALL)
_PART = re.compile(r"(?P<nodes>.+)-(?P<size>[0-9]+)(?P<unit>gpu|core)", re.DOTALL)
_NOUNS = {unit.noun.lower(): unit.noun for unit in Unit}
_LIMITS = names.job_limits("")
"""Prefix of the ConfigMaps with the limits of a namespace."""


class Use(NamedTuple):
    """A runtime on nodes, in a namespace whose limits list it.

    Args:
        runtime: name and version, e.g. ``openmpi-v1``.
        nodes: a hardware profile, or a class of node.
        space: the namespace without the prefix of all teams.
    """

    runtime: str
    nodes: str
    space: str


@dataclass(frozen=True, slots=True)
class Used:
    """The object behind a use.

    Args:
        name: of the ClusterTrainingRuntime.
        part: of a node that a pod has, e.g. ``2 GPUs``; empty for whole nodes.
        team: of the namespace.
        least: pods of the smallest job.
    """

    name: str
    part: str
    team: str
    least: int


class Name(NamedTuple):
    """The parts of a ClusterTrainingRuntime's name; one by hand has no version.

    Args:
        nodes: with the namespace whose networks it attaches to, where these have own names.
    """

    runtime: str
    version: int
    nodes: str


def parts_of(name: str) -> Name:
    """Return the parts of a ClusterTrainingRuntime's name."""
    match = _VERSIONED.fullmatch(name)
    if match is None:
        return Name(name, 0, "")
    return Name(match["runtime"], int(match["version"]), match["nodes"])


def uses(objects: Objects, renamed: Mapping[str, str]) -> dict[Use, Used]:
    """Return what the namespaces of a side may use.

    Args:
        objects: of the side.
        renamed: old name of a team -> its new name; empty for the side after the change.
    """
    found: dict[Use, Used] = {}
    for limits in _limits(objects):
        found.update(_of_space(limits, renamed))
    return found


def spaces_of(objects: Objects, renamed: Mapping[str, str]) -> dict[str, str]:
    """Return the namespaces of a side, each with its team."""
    return dict(_known_as(limits, renamed) for limits in _limits(objects))


def profile_of(runtime: Manifest) -> str:
    """Return the name of a runtime's profile."""
    labels = mapping(runtime.body, "metadata", "labels")
    return ending(labels, "/runtime") or runtime.name


def ending(values: Mapping[str, str], end: str) -> str:
    """Return the value whose key has an end, whatever the domain before it."""
    return next((str(value) for key, value in values.items() if key.endswith(end)), "")


def _limits(objects: Objects) -> Iterator[Manifest]:
    for limits in of_kind(objects, "ConfigMap"):
        if limits.name.startswith(_LIMITS):
            yield limits


def _known_as(limits: Manifest, renamed: Mapping[str, str]) -> tuple[str, str]:
    """Return the namespace that limits are for, and its team, by the team's new name."""
    team = team_of(limits)
    known = renamed.get(team, team)
    space = limits.name.removeprefix(_LIMITS)
    if f"{space}-".startswith(f"{team}-"):
        space = known + space.removeprefix(team)
    return space, known


def _shared(nodes: str) -> tuple[str, str]:
    """Return the nodes in a runtime's name, and the part of one that a pod has; empty for all."""
    match = _PART.fullmatch(nodes)
    if match is None:
        return nodes, ""
    return match["nodes"], counted(int(match["size"]), _NOUNS[match["unit"]])


def _of_space(limits: Manifest, renamed: Mapping[str, str]) -> Iterator[tuple[Use, Used]]:
    space, team = _known_as(limits, renamed)
    for name in text(limits.body, "data", "runtimes").split():
        runtime, _, nodes = parts_of(name)
        nodes = nodes.removesuffix(f"-{limits.name.removeprefix(_LIMITS)}")
        nodes, part = _shared(nodes)
        least = text(limits.body, "data", f"minNodes.{name}")
        used = Used(name, part, team, int(least) if least.isdecimal() else 0)
        yield Use(runtime, nodes, space), used


def why_lost(sides: Sides, use: Use, used: Used) -> str:
    """Return what the new profiles have instead; empty where they are not known."""
    if sides.new is None:
        return "cluster removed"
    tenant = sides.tenants[1].get(used.team)
    if tenant is None:
        return "the team leaves the cluster"
    runtime = sides.before.get(Identity("ClusterTrainingRuntime", "", used.name))
    profile = profile_of(runtime) if runtime else use.runtime
    if profile not in tenant.team.runtimes:
        return "no longer listed"
    return _of_listed(sides.new, tenant, profile, use, used)


def _of_listed(site: Site, tenant: Tenant, profile: str, use: Use, used: Used) -> str:
    """Return why a team can't use a runtime that it lists."""
    flavors = []
    for flavor in tenant.flavors:
        hardware = flavor.pool.hardware
        if use.nodes in {hardware.name, hardware.node_class} and flavor.quota.maximum:
            flavors.append(flavor)
    if not flavors:
        return "no quota on such nodes any more"
    runtimes = [launch.runtime for launch in site.launches if launch.runtime.name == profile]
    return _other(runtimes, use, flavors) or _too_small(tenant, use, used, flavors)


def _too_small(tenant: Tenant, use: Use, used: Used, flavors: list[Flavor]) -> str:
    """Return that the largest job that quota and `largestJob` permit is too small; empty if not."""
    largest = max(int(flavor.quota.maximum) for flavor in flavors)
    for space in tenant.spaces:
        if space.limits_name == names.job_limits(use.space):
            largest = min(largest, space.profile.largest_job)
    if largest < used.least:
        return f"a job needs at least {used.least} nodes, and the largest here has {largest}"
    return ""


def _other(runtimes: list[Runtime], use: Use, flavors: list[Flavor]) -> str:
    """Return what differs of a runtime; empty when it has this version and nodes, or is unknown."""
    if not runtimes:
        return ""
    runtime = runtimes[0]
    if not use.runtime.endswith(f"-v{runtime.version}"):
        return f"version {runtime.version} takes its place"
    kept = any(each.pool.hardware.name in runtime.hardware for each in flavors)
    return "" if kept else "the runtime no longer names such nodes"
