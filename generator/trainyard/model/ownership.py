"""The nodes of a pool that teams own, and what teams of one tree of cohorts lend each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from trainyard.model.cluster import Cluster
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.model.unit import Unit

Owners: TypeAlias = Sequence[tuple[Tenant, Quota]]
"""The teams with quota on one pool, each with that quota."""


def owners_of(site: Site) -> dict[str, Owners]:
    """Return the owners of each pool, by pool name; pools without a team included.

    `capacity/uneven-share` alone reports GPUs of nodes without any, and cores of nodes with some.
    """
    owners: dict[str, list[tuple[Tenant, Quota]]] = {pool.name: [] for pool in site.cluster.pools}
    for tenant in site.tenants:
        for flavor in tenant.flavors:
            if flavor.pool.hardware.units(flavor.quota.unit):
                owners[flavor.pool.name].append((tenant, flavor.quota))
    return dict(owners)


def unit_of(pool: Pool, owners: Owners) -> Unit:
    """Return the unit in which teams own a pool: parts of a node, where one has a share."""
    return pool.hardware.parts if any(quota.is_share for _, quota in owners) else Unit.NODES


def owned_nodes(owners: Owners) -> Fraction:
    """Return the nodes of a pool that all its teams own together; shares count as fractions."""
    return sum((quota.nodes for _, quota in owners), Fraction(0))


def lent_by_others(cluster: Cluster, owners: Owners) -> dict[str, Fraction]:
    """Return the nodes of a pool that the other teams of its tree of cohorts lend, by borrower.

    A team borrows from its whole tree, as no cohort has a limit. Teams without a cohort are left
    out.

    Args:
        cluster: where the pool is.
        owners: all of the pool.
    """
    members: list[tuple[str, str, Fraction]] = []
    lent: dict[str, Fraction] = defaultdict(Fraction)
    for tenant, quota in owners:
        if tenant.team.cohort:
            root = cluster.lineage(tenant.team.cohort)[-1]
            members.append((root, tenant.name, quota.lend))
            lent[root] += quota.lend
    return {team: lent[root] - lend for root, team, lend in members}
