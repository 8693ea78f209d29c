"""Compare pools: nodes, price, maintenance, who pays for and shares them, and order of queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, starmap

from trainyard.change.impact.places import peers_of, pools_of
from trainyard.change.impact.quotas import ResourceChange, resource_changes
from trainyard.change.impact.stops import closed_queues
from trainyard.change.impact.values import differing, differing_or_absent
from trainyard.change.objects import Sides
from trainyard.model.held import held_queues
from trainyard.model.money import Money, Price
from trainyard.model.ownership import owned_nodes, owners_of, unit_of
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.tenant import Tenant
from trainyard.model.unit import Unit


@dataclass(frozen=True, slots=True)
class PayerChange:
    """A team with another cost center.

    Args:
        before, after: empty for none.
    """

    team: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CohortChange:
    """A team that lends to, and borrows from, other teams than before.

    Args:
        before, after: its cohort and what this descends from, the root last; empty for none.
        peers_before, peers_after: other teams of the tree, sorted.
    """

    team: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    peers_before: tuple[str, ...]
    peers_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OrderChange:
    """A queue that tries its pools in another order.

    Args:
        queue: name of the ClusterQueue.
        before, after: pools in order of preference.
    """

    queue: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def is_reordered(self) -> bool:
        """Whether the pools that the queue keeps have another order."""
        kept = [pool for pool in self.before if pool in self.after]
        return kept != [pool for pool in self.after if pool in self.before]


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of a resource, in base units."""

    resource: str
    amount: int


@dataclass(frozen=True, slots=True)
class PoolSize:
    """Numbers of a pool; all are 0 where it does not exist, and only there.

    Args:
        nodes: all of them, with the reserve and those in maintenance.
        reserve: nodes in use that no team is given.
        promised: nodes in use that teams may be given.
        room: nodes of these that no team owns.
        price: of a node-hour; None for none.
        node: resources that a node has for jobs, sorted.
    """

    nodes: int = 0
    reserve: int = 0
    promised: int = 0
    room: Fraction = Fraction(0)
    price: Price | None = None
    node: tuple[Amount, ...] = ()

    @property
    def amounts(self) -> dict[str, int]:
        """What a node has for jobs, by resource."""
        return {amount.resource: amount.amount for amount in self.node}

    @property
    def month(self) -> Money | None:
        """What all nodes cost in a month; None without a price."""
        return self.price.month(self.nodes) if self.price else None


@dataclass(frozen=True, slots=True)
class PoolChange:
    """A pool whose nodes, reserve, head-room or price changes.

    Args:
        unit: in which teams own it.
        per_node: units that a node has: 1, or its GPUs or cores.
    """

    pool: str
    unit: Unit
    per_node: int
    before: PoolSize
    after: PoolSize

    @property
    def node(self) -> tuple[ResourceChange, ...]:
        """What a node has for jobs, where both sides have the pool and it differs."""
        if not (self.before.nodes and self.after.nodes):
            return ()
        return resource_changes(self.before.amounts, self.after.amounts)

    @property
    def is_emptied(self) -> bool:
        """Return whether teams have nodes of it before the change, and none after it."""
        return self.before.promised > self.before.room and self.after.promised <= self.after.room


@dataclass(frozen=True, slots=True)
class OutOfUse:
    """Nodes of a pool that are in maintenance.

    Args:
        until: ISO date of the last day that is expected.
    """

    nodes: tuple[str, ...]
    until: str
    reason: str

    @property
    def display(self) -> str:
        """The nodes with the day and the reason."""
        return f"{', '.join(self.nodes)} until {self.until} ({self.reason})"


@dataclass(frozen=True, slots=True)
class MaintenanceChange:
    """A pool of which other nodes are out of use than before, or for another time or reason.

    Args:
        nodes: of the pool after the change.
        before, after: what is out of use.
        held: queues in which no job can start any more, sorted.
        released: queues that admit jobs again, sorted.
    """

    pool: str
    nodes: int
    before: tuple[OutOfUse, ...]
    after: tuple[OutOfUse, ...]
    held: tuple[str, ...]
    released: tuple[str, ...]

    @property
    def out(self) -> frozenset[str]:
        """Nodes that are out of use after the change."""
        return _nodes(self.after)

    @property
    def back(self) -> tuple[str, ...]:
        """Nodes that are in use again, sorted."""
        return tuple(sorted(_nodes(self.before) - self.out))

    @property
    def takes_nodes(self) -> bool:
        """Return whether some node goes out of use."""
        return bool(self.out - _nodes(self.before))


def _nodes(windows: tuple[OutOfUse, ...]) -> frozenset[str]:
    return frozenset(chain.from_iterable(window.nodes for window in windows))


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


def maintenance_changes(sides: Sides) -> tuple[MaintenanceChange, ...]:
    """Return each pool whose maintenance differs, sorted; a pool that is removed is left out."""
    if sides.new is None or not sides.are_comparable:
        return ()
    before, after = pools_of(sides.old), pools_of(sides.new)
    held_before, held_after = _held(sides.old), _held(sides.new)
    closed = closed_queues(sides.new)
    changes = []
    for name, pool in sorted(after.items()):
        was = _out_of_use(before[name]) if name in before else ()
        if was != _out_of_use(pool):
            held = tuple(sorted(held_after[name] - held_before[name]))
            released = tuple(sorted(held_before[name] - held_after[name] - closed))
            numbers = name, pool.nodes, was, _out_of_use(pool)
            changes.append(MaintenanceChange(*numbers, held, released))
    return tuple(changes)


def _out_of_use(pool: Pool) -> tuple[OutOfUse, ...]:
    return tuple(OutOfUse(each.nodes, each.until, each.reason) for each in pool.maintenance)


def _held(site: Site | None) -> dict[str, set[str]]:
    """Return the held queues of each pool."""
    pools: dict[str, set[str]] = defaultdict(set)
    held = held_queues(site) if site else ()
    for tenant in site.tenants if site else ():
        for queue in tenant.queues:
            if queue.name in held:
                for flavor in queue.flavors:
                    pools[flavor.name].add(queue.name)
    return pools
