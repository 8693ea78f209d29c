"""What the pools of a cluster cost in a month, by who owns the nodes; exact to the last cent.

A team pays for what it owns, whether it uses it or not, and not for what it borrows: so the sums
follow from the profiles alone, and are what all nodes cost (docs/decisions/0074).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from trainyard.capacity.figures import Capacity, Part, PoolCapacity
from trainyard.model.money import HOURS, Money, Price
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_bytes, format_cpu


class Holder(StrEnum):
    """Who has a part of a pool."""

    TEAM = "team"
    NOBODY = "unallocated"
    RESERVE = "reserve"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a pool, and what it costs in a month.

    Args:
        team, cost_center: empty unless a team has it; the second also where the team has none.
        nodes: a fraction for shares of a node, negative where teams own more than is promised.
        lend, borrowable: nodes that the team lends and may borrow at most.
    """

    holder: Holder
    month: Money
    nodes: Fraction
    team: str = ""
    cost_center: str = ""
    lend: Fraction = Fraction(0)
    borrowable: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class PoolCost:
    """A pool with a price.

    Args:
        capacity: its numbers.
        price: of a node-hour.
        kept: what daemons keep of each node, e.g. ``14 of 224 CPUs and 92Gi of 2Ti memory``;
            the price includes it.
        shares: teams by name, then what nobody owns, then the reserve.
    """

    capacity: PoolCapacity
    price: Price
    kept: str
    shares: tuple[Share, ...]

    @property
    def month(self) -> Money:
        """What all nodes cost in a month."""
        return Money(sum(share.month.minor for share in self.shares), self.price.currency)

    def gpu_hours(self, nodes: Fraction | int) -> int:
        """Return the GPU-hours of nodes in a month."""
        return int(nodes * self.capacity.gpus * HOURS)


@dataclass(frozen=True, slots=True)
class CenterCost:
    """What a cost center pays in a month, or what teams without one, the rest and the reserve cost.

    Args:
        name: of the cost center; empty for teams without one, and where no team is the holder.
    """

    holder: Holder
    name: str
    month: Money


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a cluster.

    Args:
        unpriced: pools without a price, which no sum counts.
    """

    cluster: str
    pools: tuple[PoolCost, ...]
    unpriced: tuple[PoolCapacity, ...]

    @property
    def centers(self) -> tuple[CenterCost, ...]:
        """The sums over all pools, by currency; no currency is converted."""
        sums: defaultdict[tuple[str, Holder, str], int] = defaultdict(int)
        for pool in self.pools:
            for share in pool.shares:
                sums[share.month.currency, share.holder, share.cost_center] += share.month.minor
        order = list(Holder)
        keys = sorted(sums, key=lambda key: (key[0], order.index(key[1]), key[2]))
        return tuple(
            CenterCost(holder, name, Money(sums[currency, holder, name], currency))
            for currency, holder, name in keys
        )

    @property
    def months(self) -> tuple[Money, ...]:
        """What all priced nodes cost in a month, by currency."""
        sums: defaultdict[str, int] = defaultdict(int)
        for pool in self.pools:
            sums[pool.price.currency] += pool.month.minor
        return tuple(Money(minor, currency) for currency, minor in sorted(sums.items()))


def cost(site: Site, capacity: Capacity) -> Cost:
    """Return the cost of a cluster whose capacity was measured."""
    centers = {tenant.name: tenant.team.cost_center for tenant in site.tenants}
    priced: list[PoolCost] = []
    unpriced: list[PoolCapacity] = []
    for pool, figures in zip(site.cluster.pools, capacity.pools, strict=True):
        if pool.price:
            shares = tuple(_shares(figures, pool.price, centers))
            priced.append(PoolCost(figures, pool.price, _kept(pool), shares))
        else:
            unpriced.append(figures)
    return Cost(capacity.cluster, tuple(priced), tuple(unpriced))


def _shares(pool: PoolCapacity, price: Price, centers: dict[str, str]) -> Iterator[Share]:
    """Yield the parts of a pool; together they are all its nodes."""
    reserve = Fraction(pool.nodes - pool.promised)
    parts = [*(part.own for part in pool.parts), pool.head_room, reserve]
    *teams, nobody, kept = price.months(parts)
    for part, month in zip(pool.parts, teams, strict=True):
        yield _of_team(part, centers[part.team], month)
    yield Share(Holder.NOBODY, nobody, pool.head_room)
    yield Share(Holder.RESERVE, kept, reserve)


def _of_team(part: Part, cost_center: str, month: Money) -> Share:
    return Share(
        Holder.TEAM,
        month,
        part.own,
        team=part.team,
        cost_center=cost_center,
        lend=part.lend,
        borrowable=part.borrowable,
    )


def _kept(pool: Pool) -> str:
    """Return what daemons keep of a node; none of its GPUs, so no part of its price is theirs."""
    system, total = pool.hardware.system, pool.hardware.total
    return (
        f"{format_cpu(system.cpu)} of {format_cpu(total.cpu)} CPUs and "
        f"{format_bytes(system.memory)} of {format_bytes(total.memory)} memory"
    )
