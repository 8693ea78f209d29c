"""Where jobs may run now: teams, pools and borrowed nodes, looked up once for a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeVar

from trainyard.impact.model import Sides
from trainyard.impact.places import pools_of
from trainyard.model.identity import Identity
from trainyard.model.lookup import value_at
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Jobs that may run on a cluster before the change.

    Args:
        sides: of the cluster.
        pools: by name, as they are now; a new one as it will be.
        owned: pool -> nodes that all teams own, at most the pool's: more never run at a time.
        jobs: (team, pool) -> nodes that the team's jobs may use, borrowed ones included.
        of_team: team -> its keys of ``jobs``.
        borrowing: (root of a cohort tree, pool) -> keys of ``jobs`` with borrowed nodes; with an
            empty pool those of all pools.
        runtimes, priorities: name -> teams that may use it.
        old, new: (team, pool) -> quota on that side.
    """

    sides: Sides
    pools: Mapping[str, Pool]
    owned: Mapping[str, int]
    jobs: Mapping[tuple[str, str], int]
    of_team: Mapping[str, frozenset[tuple[str, str]]]
    borrowing: Mapping[tuple[str, str], frozenset[tuple[str, str]]]
    runtimes: Mapping[str, frozenset[str]]
    priorities: Mapping[str, frozenset[str]]
    old: Mapping[tuple[str, str], Quota]
    new: Mapping[tuple[str, str], Quota]

    def root(self, cohort: str) -> str:
        """Return the root of a cohort's tree; empty for no cohort."""
        return _root(self.sides.old or self.sides.new, cohort)


def occupancy(sides: Sides) -> Occupancy:
    """Return where jobs may run: as the old profiles say, or the new ones where those are lost."""
    site = sides.old or sides.new
    running = tuple(_running(sides, site))
    owned = _owned(site)
    return Occupancy(
        sides=sides,
        pools={**pools_of(sides.new), **pools_of(sides.old)},
        owned=owned,
        jobs={
            (tenant.name, flavor.name): min(ceil(flavor.quota.maximum), owned[flavor.name])
            for tenant, flavor in running
        },
        of_team=_grouped((tenant.name, (tenant.name, flavor.name)) for tenant, flavor in running),
        borrowing=_grouped(
            ((_root(site, tenant.team.cohort), pool), (tenant.name, flavor.name))
            for tenant, flavor in running
            for pool in ("", flavor.name)
            if flavor.quota.borrow
        ),
        runtimes=_grouped(_runtimes(site)),
        priorities=_grouped(_priorities(site)),
        old=_quotas(sides.old),
        new=_quotas(sides.new),
    )


def _running(sides: Sides, site: Site | None) -> Iterator[tuple[Tenant, Flavor]]:
    """Yield the quotas within which jobs may run."""
    for tenant in site.tenants if site else ():
        for queue in tenant.queues:
            if _admits(sides, queue.name):
                yield from ((tenant, flavor) for flavor in queue.flavors if flavor.quota.maximum)


def _admits(sides: Sides, name: str) -> bool:
    """Return whether a committed ClusterQueue may have admitted jobs."""
    committed = sides.before.get(Identity("ClusterQueue", "", name))
    if committed is None:
        return False
    return bool(value_at(committed.body, "spec.stopPolicy") != "HoldAndDrain")


def _owned(site: Site | None) -> dict[str, int]:
    pools, owned = pools_of(site), defaultdict[str, Fraction](Fraction)
    for (_, pool), quota in _quotas(site).items():
        owned[pool] += quota.nodes
    return {name: min(ceil(nodes), pools[name].nodes) for name, nodes in owned.items()}


def _root(site: Site | None, cohort: str) -> str:
    return site.cluster.lineage(cohort)[-1] if site and cohort else ""


def _quotas(site: Site | None) -> dict[tuple[str, str], Quota]:
    return {
        (tenant.name, flavor.name): flavor.quota
        for tenant in (site.tenants if site else ())
        for queue in tenant.queues
        for flavor in queue.flavors
    }


def _runtimes(site: Site | None) -> Iterator[tuple[str, str]]:
    for tenant in site.tenants if site else ():
        for space in tenant.spaces:
            yield from ((launch.name, tenant.name) for launch in space.launches)


def _priorities(site: Site | None) -> Iterator[tuple[str, str]]:
    for tenant in site.tenants if site else ():
        for space in tenant.spaces:
            yield from ((priority.name, tenant.name) for priority in space.priorities)


def _grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, frozenset[_Value]]:
    found: dict[_Key, set[_Value]] = defaultdict(set)
    for key, value in pairs:
        found[key].add(value)
    return {key: frozenset(values) for key, values in found.items()}
