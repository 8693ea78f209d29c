"""Compare pools: their nodes and price, who pays for and shares them, and the order of queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from trainyard.change.impact.quotas import are_comparable
from trainyard.model.ownership import owned_nodes, owners_of, unit_of
from trainyard.model.platform import Site
from trainyard.model.unit import Unit


def pool_changes(sides: Sides) -> tuple[PoolChange, ...]:
    """Return each pool whose nodes, reserve, head-room or price differ, sorted."""
    if not are_comparable(sides):
        return ()
    old, new = dict(_sizes(sides.old)), dict(_sizes(sides.new))
    units = dict(_units(sides.old)) | dict(_units(sides.new))
    both = ((pool, old.get(pool, _NONE), new.get(pool, _NONE)) for pool in sorted({*old, *new}))
    return tuple(
        PoolChange(pool, *units[pool], before, after)
        for pool, before, after in both
        if before != after
    )


def payer_changes(sides: Sides) -> tuple[PayerChange, ...]:
    """Return each team on both sides whose cost center differs, sorted."""
    old, new = dict(_payers(sides.old, sides.renamed)), dict(_payers(sides.new, {}))
    return tuple(
        PayerChange(team, old[team], new[team])
        for team in sorted(old.keys() & new.keys())
        if old[team] != new[team]
    )


def order_changes(sides: Sides) -> tuple[OrderChange, ...]:
    """Return each queue that tries the pools that it keeps in another order, sorted."""
    old, new = dict(_orders(sides.old)), dict(_orders(sides.new))
    return tuple(
        OrderChange(queue, old[queue], new[queue])
        for queue in sorted(old.keys() & new.keys())
        if _common(old[queue], new[queue]) != _common(new[queue], old[queue])
    )


def cohort_changes(sides: Sides) -> tuple[CohortChange, ...]:
    """Return each team whose cohort, or what this descends from, differs; sorted."""
    old, new = dict(_lineages(sides.old, sides.renamed)), dict(_lineages(sides.new, {}))
    before, after = peers_of(sides.old, sides.renamed), peers_of(sides.new, {})
    return tuple(
        CohortChange(
            team, old[team], new[team], tuple(sorted(before[team])), tuple(sorted(after[team]))
        )
        for team in sorted(old.keys() & new.keys())
        if old[team] != new[team]
    )


_NONE = PoolSize()


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


def _payers(site: Site | None, renamed: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each team with its cost center."""
    for tenant in site.tenants if site else ():
        yield renamed.get(tenant.name, tenant.name), tenant.team.cost_center


def _orders(site: Site | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    for tenant in site.tenants if site else ():
        for queue in tenant.queues:
            yield queue.name, tuple(flavor.name for flavor in queue.flavors)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
    return [each for each in one if each in other]


def _lineages(
    site: Site | None, renamed: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each team with its cohort and what this descends from."""
    for tenant in site.tenants if site else ():
        cohort = tenant.team.cohort
        lineage = tenant.cluster.lineage(cohort) if cohort else ()
        yield renamed.get(tenant.name, tenant.name), lineage
