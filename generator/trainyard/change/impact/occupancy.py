"""Where jobs may run now: teams, pools and borrowed nodes, looked up once for a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from trainyard.change.impact.model import Sides
from trainyard.change.impact.places import pools_of
from trainyard.change.impact.reclaim import Key, Tree, losers, tree_of
from trainyard.model.identity import Identity
from trainyard.model.lookup import value_at
from trainyard.model.ownership import lent_by_others, owners_of
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant

_Group = TypeVar("_Group")
_Value = TypeVar("_Value")


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
    of_team: Mapping[str, frozenset[Key]]
    borrowing: Mapping[tuple[str, str], frozenset[Key]]
    runtimes: Mapping[str, frozenset[Key]]
    priorities: Mapping[str, frozenset[str]]
    old: Mapping[Key, Quota]
    new: Mapping[Key, Quota]
    losers: Mapping[Key, frozenset[Key]]

    def root(self, cohort: str) -> str:
        """Return the root of a cohort's tree; empty for no cohort."""
        return _root(self.sides.old or self.sides.new, cohort)

    def busy(self, jobs: Iterable[Key]) -> dict[str, Fraction]:
        """Return on how many nodes of each pool some jobs may run at a time, at most."""
        trees: dict[tuple[Tree, str], Fraction] = defaultdict(Fraction)
        for team, pool in jobs:
            trees[self.tree[team], pool] += self.jobs[team, pool]
        found: dict[str, Fraction] = defaultdict(Fraction)
        for (tree, pool), nodes in trees.items():
            found[pool] += min(nodes, self.owned[tree, pool])
        return {
            pool: min(nodes, Fraction(self.pools[pool].promised)) for pool, nodes in found.items()
        }

    def gpus(self, busy: Mapping[str, Fraction]) -> int:
        """Return the GPUs of some nodes of each pool."""
        return sum(int(self.pools[pool].hardware.gpus * nodes) for pool, nodes in busy.items())


def occupancy(sides: Sides) -> Occupancy:
    """Return where jobs may run: as the old profiles say, or the new ones where those are lost."""
    site = sides.old or sides.new
    borrowed = _borrowed(site)
    running = tuple(_running(sides, site, borrowed))
    tree = _trees(site)
    return Occupancy(
        sides=sides,
        pools={**pools_of(sides.new), **pools_of(sides.old)},
        jobs={
            (tenant.name, flavor.name): flavor.quota.nodes + borrowed[tenant.name, flavor.name]
            for tenant, flavor in running
        },
        tree=tree,
        owned=_owned(site, tree),
        of_team=_grouped((tenant.name, (tenant.name, flavor.name)) for tenant, flavor in running),
        borrowing=_grouped(
            ((_root(site, tenant.team.cohort), pool), (tenant.name, flavor.name))
            for tenant, flavor in running
            for pool in ("", flavor.name)
            if borrowed[tenant.name, flavor.name]
        ),
        runtimes=_grouped(_runtimes(running)),
        priorities=_grouped(_priorities(site)),
        old=_quotas(sides.old),
        new=_quotas(sides.new),
        losers=losers(sides.old, sides.new, sides.renamed),
    )


def _running(
    sides: Sides, site: Site | None, borrowed: Mapping[Key, Fraction]
) -> Iterator[tuple[Tenant, Flavor]]:
    """Yield the quotas within which jobs may run."""
    for tenant in site.tenants if site else ():
        for queue in tenant.queues:
            if _admits(sides, queue.name):
                for flavor in queue.flavors:
                    if flavor.quota.nodes + borrowed[tenant.name, flavor.name]:
                        yield tenant, flavor


def _borrowed(site: Site | None) -> dict[Key, Fraction]:
    """Return the nodes that each team can borrow: within its limit, and lent by others."""
    found: dict[Key, Fraction] = defaultdict(Fraction)
    if site is None:
        return found
    for pool, owners in owners_of(site).items():
        lent = lent_by_others(site.cluster, owners)
        for tenant, quota in owners:
            found[tenant.name, pool] = min(quota.borrow, lent.get(tenant.name, Fraction(0)))
    return found


def _admits(sides: Sides, name: str) -> bool:
    """Return whether a committed ClusterQueue may have admitted jobs."""
    committed = sides.before.get(Identity("ClusterQueue", "", name))
    if committed is None:
        return False
    return bool(value_at(committed.body, "spec.stopPolicy") != "HoldAndDrain")


def _owned(site: Site | None, tree: Mapping[str, Tree]) -> dict[tuple[Tree, str], Fraction]:
    found: dict[tuple[Tree, str], Fraction] = defaultdict(Fraction)
    for (team, pool), quota in _quotas(site).items():
        found[tree[team], pool] += quota.nodes
    return found


def _trees(site: Site | None) -> dict[str, Tree]:
    if site is None:
        return {}
    return {each.name: tree_of(site, each.team.cohort, each.name) for each in site.tenants}


def _root(site: Site | None, cohort: str) -> str:
    return site.cluster.lineage(cohort)[-1] if site and cohort else ""


def _quotas(site: Site | None) -> dict[tuple[str, str], Quota]:
    return {
        (tenant.name, flavor.name): flavor.quota
        for tenant in (site.tenants if site else ())
        for queue in tenant.queues
        for flavor in queue.flavors
    }


def _runtimes(running: Iterable[tuple[Tenant, Flavor]]) -> Iterator[tuple[str, Key]]:
    """Yield each runtime with each quota on nodes that its pods may run on."""
    for tenant, flavor in running:
        for space in tenant.spaces:
            for launch in space.launches:
                # A runtime for any of several kinds of node has the name of their class.
                hardware = flavor.pool.hardware
                if launch.hardware.name in {hardware.name, hardware.node_class}:
                    yield launch.name, (tenant.name, flavor.name)


def _priorities(site: Site | None) -> Iterator[tuple[str, str]]:
    for tenant in site.tenants if site else ():
        for space in tenant.spaces:
            yield from ((priority.name, tenant.name) for priority in space.priorities)


def _grouped(pairs: Iterable[tuple[_Group, _Value]]) -> dict[_Group, frozenset[_Value]]:
    found: dict[_Group, set[_Value]] = defaultdict(set)
    for key, value in pairs:
        found[key].add(value)
    return {key: frozenset(values) for key, values in found.items()}
