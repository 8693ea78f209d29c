"""Changes of what teams own, borrow and lend, and of what pools have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from trainyard.model.money import Money, Price
from trainyard.model.quantity import format_amount
from trainyard.model.team import Quota
from trainyard.model.unit import Unit


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """An amount of a resource on both sides, in base units: millicores, bytes or a count."""

    resource: str
    before: int
    after: int

    @property
    def display(self) -> str:
        """Both amounts, e.g. ``cpu 210 -> 204``."""
        before = format_amount(self.resource, self.before)
        return f"{self.resource} {before} -> {format_amount(self.resource, self.after)}"


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """A team's quota on one pool.

    Args:
        before, after: None where the team has no quota.
        reach_before, reach_after: nodes of the largest job that its queue can admit, fractions on a
            share of a node; 0 for none.
        resources: that its own nodes have, where they differ; GPUs first.
        month_before, month_after: what its own nodes cost; None without a quota or a price.
    """

    team: str
    pool: str
    before: Quota | None
    after: Quota | None
    reach_before: Fraction
    reach_after: Fraction
    resources: tuple[ResourceChange, ...]
    month_before: Money | None = None
    month_after: Money | None = None


def resource_changes(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[ResourceChange, ...]:
    """Return each resource whose amount differs; devices such as GPUs first."""
    changes = []
    for resource in sorted({*old, *new}, key=lambda resource: ("/" not in resource, resource)):
        before, after = old.get(resource, 0), new.get(resource, 0)
        if before != after:
            changes.append(ResourceChange(resource, before, after))
    return tuple(changes)


class Move(NamedTuple):
    """A team's own nodes on both sides."""

    team: str
    before: Fraction
    after: Fraction


@dataclass(frozen=True, slots=True)
class Transfer:
    """Nodes of a pool that some teams lose and others gain in one change.

    Args:
        givers, takers: by name.
    """

    pool: str
    givers: tuple[Move, ...]
    takers: tuple[Move, ...]


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
