"""Measure the capacity of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
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
    parts = tuple(
        _part(site, Flavor(pool.in_use, quota), tenant, lent.get(tenant.name, Fraction(0)))
        for tenant, quota in owners
    )
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
        parts=parts,
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


def _resources(site: Site, pool: Pool, parts: tuple[Part, ...]) -> Iterator[Resource]:
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
    found: dict[str, Fraction] = {}
    for launch in site.launches:
        if launch.hardware.name == pool.hardware.name:
            for name, amount in launch.per_node.items():
                if whole := pool.allocatable.get(name):
                    demand = Fraction(amount) / (whole * launch.part)
                    found[name] = max(demand, found.get(name, demand))
    return found


def _cohorts(site: Site) -> Iterator[CohortMembers]:
    """Yield each cohort after its parent; those of a cycle, which a rule reports, in any order."""
    names = {cohort.name for cohort in site.cluster.cohorts}
    members: dict[str, list[str]] = {name: [] for name in names}
    for tenant in site.tenants:
        if tenant.team.cohort:
            members.setdefault(tenant.team.cohort, []).append(tenant.name)
    found = (
        CohortMembers(name, site.cluster.lineage(name), tuple(sorted(teams)))
        for name, teams in members.items()
    )
    yield from sorted(found, key=lambda each: each.lineage[::-1])
