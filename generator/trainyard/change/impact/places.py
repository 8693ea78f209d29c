"""The team and the pool of an object, and where jobs may run now, looked up once for a cluster."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction

from trainyard.change.impact.reclaim import Key, Tree, losers, tree_of
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.identity import Identity, identity, team_of
from trainyard.model.lookup import EVERY, mappings, value_at
from trainyard.model.manifest import Manifest
from trainyard.model.ownership import lent_by_others, owners_of
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.team import Quota
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


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Jobs that may run on a cluster before the change.

    Args:
        sides: of the cluster.
        pools: by name, as they are now; a new one as it will be.
        jobs: (team, pool) -> nodes that the team's jobs may use: its own, and those that others of
            its cohorts' tree lend it; fractions for a share of a node.
        tree: team -> root of its cohorts' tree; the team itself without a cohort.
        owned: (tree, pool) -> nodes that its teams own: more never run at a time.
        of_team: team -> its keys of ``jobs``.
        borrowing: keys of the ``jobs`` that may use borrowed nodes, by root of their cohort tree
            and pool; an empty pool stands for all pools.
        runtimes: name -> keys of ``jobs`` within which jobs with it may run.
        priorities: name -> teams that may use it.
        old, new: (team, pool) -> quota on that side.
        losers: (team, pool) -> the teams and pools that lose nodes by what changes there.
    """

    sides: Sides
    pools: Mapping[str, Pool]
    jobs: Mapping[Key, Fraction]
    tree: Mapping[str, Tree]
    owned: Mapping[tuple[Tree, str], Fraction]
    of_team: Mapping[str, AbstractSet[Key]]
    borrowing: Mapping[tuple[str, str], AbstractSet[Key]]
    runtimes: Mapping[str, AbstractSet[Key]]
    priorities: Mapping[str, AbstractSet[str]]
    old: Mapping[Key, Quota]
    new: Mapping[Key, Quota]
    losers: Mapping[Key, frozenset[Key]]

    def root(self, cohort: str) -> str:
        """Return the root of a cohort's tree; empty for no cohort."""
        site = self.sides.old or self.sides.new
        return site.cluster.lineage(cohort)[-1] if site and cohort else ""

    def busy(self, jobs: Iterable[Key]) -> dict[str, Fraction]:
        """Return on how many nodes of each pool some jobs may run at a time, at most."""
        trees: dict[tuple[Tree, str], Fraction] = defaultdict(Fraction)
        for team, pool in jobs:
            trees[self.tree[team], pool] += self.jobs[team, pool]
        busy: dict[str, Fraction] = defaultdict(Fraction)
        for (tree, pool), nodes in trees.items():
            owned = min(nodes, self.owned[tree, pool])
            busy[pool] = min(busy[pool] + owned, Fraction(self.pools[pool].promised))
        return busy

    def gpus(self, busy: Mapping[str, Fraction]) -> int:
        """Return the GPUs of some nodes of each pool."""
        return sum(int(self.pools[pool].hardware.gpus * nodes) for pool, nodes in busy.items())


def occupancy(sides: Sides) -> Occupancy:
    """Return where jobs may run: as the old profiles say, or the new ones where those are lost."""
    site = sides.old or sides.new
    tenants, borrowed = (site.tenants, _borrowed(site)) if site else ((), {})
    tree = {tenant.name: tree_of(tenant) for tenant in tenants}
    jobs: dict[Key, Fraction] = {}
    of_team: dict[str, set[Key]] = defaultdict(set)
    borrowing: dict[tuple[str, str], set[Key]] = defaultdict(set)
    runtimes: dict[str, set[Key]] = defaultdict(set)
    for tenant, flavor in _admitted(sides, tenants):
        key = tenant.name, flavor.name
        nodes = flavor.quota.nodes + borrowed[key]
        if not nodes:
            continue
        jobs[key] = nodes
        of_team[tenant.name].add(key)
        for runtime in _runtimes(tenant, flavor):
            runtimes[runtime].add(key)
        if borrowed[key]:
            root, _ = tree[tenant.name]
            borrowing[root, ""].add(key)
            borrowing[root, flavor.name].add(key)
    return Occupancy(
        sides=sides,
        pools={**pools_of(sides.new), **pools_of(sides.old)},
        jobs=jobs,
        tree=tree,
        owned=_owned(site, tree),
        of_team=of_team,
        borrowing=borrowing,
        runtimes=runtimes,
        priorities=_priorities(tenants),
        old=_quotas(sides.old),
        new=_quotas(sides.new),
        losers=losers(sides.old, sides.new, sides.renamed),
    )


def _admitted(sides: Sides, tenants: Iterable[Tenant]) -> Iterator[tuple[Tenant, Flavor]]:
    """Yield the quotas within which jobs may have been admitted."""
    for tenant in tenants:
        for queue in tenant.queues:
            committed = sides.before.get(Identity("ClusterQueue", "", queue.name))
            if committed and value_at(committed.body, "spec.stopPolicy") != "HoldAndDrain":
                for flavor in queue.flavors:
                    yield tenant, flavor


def _borrowed(site: Site) -> dict[Key, Fraction]:
    """Return the nodes that each team can borrow: within its limit, and lent by others."""
    borrowed: dict[Key, Fraction] = defaultdict(Fraction)
    for pool, owners in owners_of(site).items():
        lent = lent_by_others(site.cluster, owners)
        for tenant, quota in owners:
            borrowed[tenant.name, pool] = min(quota.borrow, lent.get(tenant.name, Fraction(0)))
    return borrowed


def _owned(site: Site | None, tree: Mapping[str, Tree]) -> dict[tuple[Tree, str], Fraction]:
    owned: dict[tuple[Tree, str], Fraction] = defaultdict(Fraction)
    for (team, pool), quota in _quotas(site).items():
        owned[tree[team], pool] += quota.nodes
    return owned


def _quotas(site: Site | None) -> dict[Key, Quota]:
    quotas = {}
    for tenant in site.tenants if site else ():
        for flavor in tenant.flavors:
            quotas[tenant.name, flavor.name] = flavor.quota
    return quotas


def _runtimes(tenant: Tenant, flavor: Flavor) -> Iterator[str]:
    """Yield the runtimes whose pods may run on the nodes of a quota."""
    # A runtime for any of several kinds of node has the name of their class.
    hardware = flavor.pool.hardware
    for space in tenant.spaces:
        for launch in space.launches:
            if launch.hardware.name in {hardware.name, hardware.node_class}:
                yield launch.name


def _priorities(tenants: Iterable[Tenant]) -> dict[str, set[str]]:
    """Return the teams that may use each priority."""
    teams: dict[str, set[str]] = defaultdict(set)
    for tenant in tenants:
        for space in tenant.spaces:
            for priority in space.priorities:
                teams[priority.name].add(tenant.name)
    return teams
