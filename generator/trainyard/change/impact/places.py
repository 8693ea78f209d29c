"""The team and the pool that an object belongs to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from trainyard.change.impact.model import Sides
from trainyard.model.identity import Identity, team_of
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.pool import Pool

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


def pools_of_queue(queue: Manifest) -> frozenset[str]:
    """Return the pools of which a ClusterQueue has quota."""
    groups = queue.body["spec"].get("resourceGroups", ())
    return frozenset(flavor["name"] for group in groups for flavor in group["flavors"])


def pools_of(site: Site | None) -> dict[str, Pool]:
    """Return a cluster's pools by name; none where its profile is gone."""
    return {pool.name: pool for pool in site.cluster.pools} if site else {}


def teams_that_stay(sides: Sides) -> frozenset[str]:
    """Return the teams with a namespace that is on both sides."""
    keys = sides.before.keys() & sides.after.keys()
    spaces = (sides.before[key] for key in keys if key.kind == "Namespace")
    return frozenset(map(team_of, spaces)) - {""}


def peers_of(site: Site | None, renamed: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the other teams of each team's tree of cohorts, by the names after the change.

    Args:
        site: a side of the change; without a profile there is no team.
        renamed: old name of a team -> its new name, for the old side.
    """
    trees: dict[str, set[str]] = defaultdict(set)
    roots = {}
    for tenant in site.tenants if site else ():
        name, cohort = renamed.get(tenant.name, tenant.name), tenant.team.cohort
        roots[name] = tenant.cluster.lineage(cohort)[-1] if cohort else ""
        trees[roots[name]].add(name)
    return {
        name: frozenset(trees[root] - {name}) if root else frozenset()
        for name, root in roots.items()
    }


def passed(sides: Sides, priority: Identity) -> frozenset[str]:
    """Return the names of the priorities that one passes, reaches or leaves in value."""
    stay = sides.before.keys() & sides.after.keys()
    others = (key for key in stay if key.kind == priority.kind and key != priority)
    return frozenset(
        each.name
        for each in others
        if _order(sides.before, priority, each) != _order(sides.after, priority, each)
    )


def _order(side: Mapping[Identity, Manifest], one: Identity, other: Identity) -> int:
    first, second = (int(side[each].body["value"]) for each in (one, other))
    return (first > second) - (first < second)


def team_of_unit(manifest: Manifest) -> str:
    """Return the team whose unit has an object; empty for the platform's."""
    return manifest.unit.partition("/")[2]


def team_of_object(manifest: Manifest) -> str:
    """Return the team that an object is made for, in the team's unit or the platform's."""
    if "metadata" not in manifest.body:
        return ""
    return team_of_unit(manifest) or team_of(manifest)
