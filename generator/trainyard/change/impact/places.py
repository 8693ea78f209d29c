"""The team and the pool that an object belongs to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from trainyard.change.impact.reclaim import Tree, tree_of
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.identity import Identity, identity, team_of
from trainyard.model.lookup import EVERY, mappings
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.tenant import Tenant

_POOLS = {
    "KubeletConfig": re.compile(r"(.+)"),
    "KubeletConfiguration": re.compile(r"(.+)-kubelet-configuration"),
    "MachineConfig": re.compile(r"99-(.+)-memlock"),
    "MachineConfigPool": re.compile(r"(.+)"),
    "ResourceFlavor": re.compile(r"(.+)"),
    "SriovNetworkNodePolicy": re.compile(r"(.+)-rail-\d+"),
    "SriovNetworkPoolConfig": re.compile(r"(.+)"),
}
"""Names of the objects of a pool, by kind."""


def pool_of(manifest: Manifest) -> str:
    """Return the pool whose nodes an object sets up; empty for other objects."""
    pattern = _POOLS.get(manifest.kind.name)
    match = pattern.fullmatch(manifest.name) if pattern else None
    return match[1] if match else ""


def pools_of_queue(queue: Manifest) -> tuple[str, ...]:
    """Return the pools of which a ClusterQueue has quota, in its order."""
    flavors = mappings(queue.body, "spec", "resourceGroups", EVERY, "flavors")
    return tuple(dict.fromkeys(flavor["name"] for flavor in flavors))


def pools_of(site: Site | None) -> dict[str, Pool]:
    """Return a cluster's pools by name; none where its profile is gone."""
    return {pool.name: pool for pool in site.cluster.pools} if site else {}


def teams_that_stay(sides: Sides) -> frozenset[str]:
    """Return the teams with a namespace that is on both sides."""
    stay = (space for space in of_kind(sides.before, "Namespace") if identity(space) in sides.after)
    return frozenset(map(team_of, stay)) - {""}


def peers_of(sides: Sides) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Return the other teams of each team's tree of cohorts, before and after.

    All teams have their names after the change; without a profile of the cluster there is none.
    """
    before, after = sides.tenants
    return _peers(before), _peers(after)


def _peers(tenants: Mapping[str, Tenant]) -> dict[str, frozenset[str]]:
    trees: dict[Tree, set[str]] = defaultdict(set)
    for name, tenant in tenants.items():
        trees[tree_of(tenant)].add(name)
    return {name: frozenset(trees[tree_of(each)] - {name}) for name, each in tenants.items()}


def teams_moved(sides: Sides, manifest: Manifest) -> frozenset[str]:
    """Return the team of a ClusterQueue, or the teams below a Cohort before the change."""
    if team := team_of_object(manifest):
        return frozenset({team})
    teams = set()
    for tenant in sides.old.tenants if sides.old else ():
        cohort = tenant.team.cohort
        if cohort and manifest.name in tenant.cluster.lineage(cohort):
            teams.add(tenant.name)
    return frozenset(teams)


def passed(sides: Sides, priority: Identity) -> frozenset[str]:
    """Return the names of the priorities that one is above or below, and was not before.

    Jobs of equal priority evict each other in no queue (`withinClusterQueue: LowerPriority`).
    """
    names = set()
    for other in sides.before.keys() & sides.after.keys():
        if other.kind == priority.kind and other != priority:
            old, new = (_order(side, priority, other) for side in (sides.before, sides.after))
            if new not in {0, old}:
                names.add(other.name)
    return frozenset(names)


def _order(objects: Objects, one: Identity, other: Identity) -> int:
    """Return 1, 0 or -1: whether a priority has a higher, the same or a lower value."""
    first, second = int(objects[one].body["value"]), int(objects[other].body["value"])
    return (first > second) - (first < second)


def team_of_unit(manifest: Manifest) -> str:
    """Return the team whose unit has an object; empty for the platform's."""
    return manifest.unit.partition("/")[2]


def team_of_object(manifest: Manifest) -> str:
    """Return the team that an object is made for, in the team's unit or the platform's."""
    if "metadata" not in manifest.body:
        return ""
    return team_of_unit(manifest) or team_of(manifest)
