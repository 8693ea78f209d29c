"""Measure the capacity of a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from trainyard.capacity.fabrics import Ledger, fabrics_of
from trainyard.capacity.figures import (
    Capacity,
    CohortMembers,
    Job,
    Limit,
    Part,
    PoolCapacity,
    Resource,
)
from trainyard.capacity.jobs import largest_job
from trainyard.model.named import by_name
from trainyard.model.ownership import Owners, lent_by_others, owned_nodes, owners_of, unit_of
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.tenant import Tenant


def measure(site: Site, ledger: Ledger) -> Capacity:
    """Return the capacity of a cluster; teams may own more than its nodes have.

    Teams have what is left of their quota while nodes are in maintenance.

    Args:
        site: the cluster.
        ledger: the numbers on fabrics that teams have on any cluster.
    """
    in_use = site.in_use
    owners = owners_of(in_use)
    pools = tuple(_pool(in_use, pool, owners[pool.name]) for pool in site.cluster.pools)
    fabrics = tuple(fabrics_of(site.cluster, ledger))
    return Capacity(site.name, pools, fabrics, tuple(_cohorts(site)))


def _pool(site: Site, pool: Pool, owners: Owners) -> PoolCapacity:
    """Return the figures of a pool.

    Args:
        site: without nodes in maintenance.
        pool: with them.
        owners: with what is left of their quota.
    """
    lent = lent_by_others(site.cluster, owners)
    parts = []
    for tenant, quota in owners:
        flavor = Flavor(pool.in_use, quota)
        parts.append(_part(site, flavor, tenant, lent.get(tenant.name, Fraction(0))))
    unit = unit_of(pool, owners)
    return PoolCapacity(
        name=pool.name,
        hardware=pool.hardware.name,
        unit=unit,
        per_node=pool.hardware.units(unit),
        gpus=pool.hardware.gpus,
        nodes=pool.nodes,
        maintenance=pool.maintenance,
        out_of_use=pool.nodes - pool.in_use.nodes,
        reserve=pool.in_use.reserve,
        promised=pool.in_use.promised,
        owned=owned_nodes(owners),
        resources=tuple(_resources(site, pool, parts)),
        parts=tuple(parts),
    )


def _part(site: Site, flavor: Flavor, tenant: Tenant, lent: Fraction) -> Part:
    quota, cohort = flavor.quota, tenant.team.cohort
    bound = Limit.LENT if quota.borrow > lent else Limit.QUOTA
    return Part(
        team=tenant.name,
        cohort=cohort,
        root=site.cluster.lineage(cohort)[-1] if cohort else "",
        own=quota.nodes,
        borrow=quota.borrow,
        lend=quota.lend,
        withheld=_withheld(tenant, flavor),
        lent=lent,
        state=tenant.state_of(flavor),
        term=quota.term,
        amounts={name: flavor.amount(name, quota.nodes) for name in flavor.pool.allocatable},
        own_job=_job(tenant, flavor, quota.nodes, Limit.QUOTA),
        largest_job=_job(tenant, flavor, quota.nodes + min(quota.borrow, lent), bound),
    )


def _withheld(tenant: Tenant, flavor: Flavor) -> Fraction:
    """Return the nodes that a team lacks while some are in maintenance."""
    stated = tenant.team.quotas_on(tenant.cluster.name)
    return next(quota.withheld for quota in stated if quota.pool == flavor.name)


def _job(tenant: Tenant, flavor: Flavor, nodes: Fraction, bound: Limit) -> Job:
    """Return the largest job on a number of nodes; the pool may promise fewer."""
    promised = Fraction(flavor.pool.promised)
    if nodes > promised:
        return largest_job(tenant, flavor, promised, Limit.POOL)
    return largest_job(tenant, flavor, nodes, bound)


def _resources(site: Site, pool: Pool, parts: Sequence[Part]) -> Iterator[Resource]:
    demands = _demands(site, pool)
    most = max(demands.values(), default=None)
    for name, amount in pool.allocatable.items():
        yield Resource(
            name=name,
            per_node=amount,
            nodes=amount * pool.nodes,
            out_of_use=amount * (pool.nodes - pool.in_use.nodes),
            promised=amount * pool.in_use.promised,
            nominal=sum(part.amounts[name] for part in parts),
            binds=demands.get(name) == most is not None,
        )


def _demands(site: Site, pool: Pool) -> dict[str, Fraction]:
    """Return the part of its share of a node that a pod asks for, by resource."""
    demands: dict[str, Fraction] = {}
    for launch in site.launches:
        if launch.hardware.name == pool.hardware.name:
            for name, amount in launch.per_node.items():
                if whole := pool.allocatable.get(name):
                    demand = Fraction(amount) / (whole * launch.part)
                    demands[name] = max(demand, demands.get(name, demand))
    return demands


def _cohorts(site: Site) -> Iterator[CohortMembers]:
    """Yield each cohort after its parent; those of a cycle, which a rule reports, in any order."""
    teams = defaultdict(list)
    for tenant in site.tenants:
        teams[tenant.team.cohort].append(tenant.name)
    lineages = map(site.cluster.lineage, {*by_name(site.cluster.cohorts), *teams} - {""})
    for lineage in sorted(lineages, key=lambda lineage: lineage[::-1]):
        yield CohortMembers(lineage[0], lineage, tuple(sorted(teams[lineage[0]])))
