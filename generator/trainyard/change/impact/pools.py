"""Compare pools: their nodes and price, who pays for and shares them, and the order of queues."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap

from trainyard.change.impact.amounts import (
    Amount,
    CohortChange,
    OrderChange,
    PayerChange,
    PoolChange,
    PoolSize,
)
from trainyard.change.impact.model import Sides
from trainyard.change.impact.places import peers_of
from trainyard.change.impact.values import differing, differing_or_absent
from trainyard.model.ownership import owned_nodes, owners_of, unit_of
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant
from trainyard.model.unit import Unit


def pool_changes(sides: Sides) -> tuple[PoolChange, ...]:
    """Return each pool whose nodes, reserve, head-room or price differ, sorted."""
    if not sides.are_comparable:
        return ()
    sizes = differing_or_absent(dict(_sizes(sides.old)), dict(_sizes(sides.new)), PoolSize())
    units = dict(_units(sides.old)) | dict(_units(sides.new))
    return tuple(PoolChange(pool, *units[pool], before, after) for pool, before, after in sizes)


def payer_changes(sides: Sides) -> tuple[PayerChange, ...]:
    """Return each team on both sides whose cost center differs, sorted."""
    changes = []
    for name, old, new in sides.kept_tenants():
        if old.team.cost_center != new.team.cost_center:
            changes.append(PayerChange(name, old.team.cost_center, new.team.cost_center))
    return tuple(changes)


def order_changes(sides: Sides) -> tuple[OrderChange, ...]:
    """Return each queue that tries the pools that it keeps in another order, sorted."""
    changes = starmap(OrderChange, differing(dict(_orders(sides.old)), dict(_orders(sides.new))))
    return tuple(change for change in changes if change.is_reordered)


def cohort_changes(sides: Sides) -> tuple[CohortChange, ...]:
    """Return each team whose cohort, or what this descends from, differs; sorted."""
    before, after = peers_of(sides)
    changes = []
    for name, old, new in sides.kept_tenants():
        if _lineage(old) != _lineage(new):
            peers = tuple(sorted(before[name])), tuple(sorted(after[name]))
            changes.append(CohortChange(name, _lineage(old), _lineage(new), *peers))
    return tuple(changes)


def _sizes(site: Site | None) -> Iterator[tuple[str, PoolSize]]:
    """Yield each pool with its numbers."""
    owners = owners_of(site.in_use) if site else {}
    for pool in site.cluster.pools if site else ():
        in_use = pool.in_use
        room = in_use.promised - owned_nodes(owners[pool.name])
        numbers = in_use.reserve, in_use.promised, room
        node = tuple(Amount(*each) for each in sorted(pool.hardware.allocatable.items()))
        yield pool.name, PoolSize(pool.nodes, *numbers, pool.price, node)


def _units(site: Site | None) -> Iterator[tuple[str, tuple[Unit, int]]]:
    """Yield each pool with the unit in which teams own it, and how many a node has."""
    owners = owners_of(site) if site else {}
    for pool in site.cluster.pools if site else ():
        unit = unit_of(pool, owners[pool.name])
        yield pool.name, (unit, pool.hardware.units(unit))


def _orders(site: Site | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    for tenant in site.tenants if site else ():
        for queue in tenant.queues:
            yield queue.name, tuple(flavor.name for flavor in queue.flavors)


def _lineage(tenant: Tenant) -> tuple[str, ...]:
    """Return a team's cohort and what this descends from."""
    cohort = tenant.team.cohort
    return tenant.cluster.lineage(cohort) if cohort else ()
