"""Which queues lend nodes to which, and what would be left if all were full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from trainyard.model.platform import Site
from trainyard.model.queue import Queue
from trainyard_rehearsal.checks.lanes import Lane


@dataclass(frozen=True, slots=True)
class Pair:
    """Two queues of which one may have the other's nodes.

    Args:
        lent: pods of the borrower that the owner's nodes hold at most.
        spare: nodes that are left when all but the owner fill their quotas, and the borrower what
            is lent as well: jobs do not always come out even, and some queues have none.
    """

    borrower: Lane
    owner: Lane
    lent: int
    spare: Fraction

    @property
    def is_pressed(self) -> bool:
        """Whether the owner can come back only to nodes that it has lent."""
        wanted = self.owner.filled(sum(self.owner.own)) * self.owner.sample.launch.part
        free = (
            self.owner.flavors[0].quota.nodes
            - self.lent * self.borrower.sample.launch.part
            + self.spare
        )
        return wanted > free

    @property
    def is_limited(self) -> bool:
        """Whether the owner keeps nodes that the borrower would else take, and finds nowhere else."""
        quota = self.owner.flavors[0].quota
        more = self.lent < sum(self.borrower.maximum) - sum(self.borrower.own)
        return (
            quota.lend < quota.nodes
            and more
            and self.spare < self.borrower.least * self.borrower.sample.launch.part
        )


@dataclass(frozen=True, slots=True)
class Lending:
    """What queues of a cluster may lend.

    Args:
        lanes: one for each flavor of each queue.
    """

    site: Site
    lanes: Sequence[Lane]

    def pairs(self) -> list[Pair]:
        """Return each borrower with each owner that may lend to it."""
        return [
            self._pair(lane, owner)
            for lane in self.lanes
            for owner in self.lanes
            if self._may(lane, owner)
        ]

    def _may(self, borrower: Lane, owner: Lane) -> bool:
        same = owner.flavors[0].name == borrower.flavors[0].name
        lends = bool(owner.flavors[0].quota.lend) and bool(borrower.flavors[0].quota.borrow)
        return same and lends and self._are_kin(borrower.queue, owner.queue)

    def _pair(self, borrower: Lane, owner: Lane) -> Pair:
        nodes = min(borrower.flavors[0].quota.borrow, owner.flavors[0].quota.lend)
        part = borrower.sample.launch.part
        lent = int(nodes / part)
        return Pair(
            borrower,
            owner,
            lent,
            self._held(owner) + lent * part - self._used(borrower, owner, lent),
        )

    def _held(self, owner: Lane) -> Fraction:
        """Return the nodes of all queues that the owner could borrow from, were they idle."""
        pool = owner.flavors[0].name
        queues = (
            queue
            for tenant in self.site.tenants
            for queue in tenant.queues
            if self._are_kin(queue, owner.queue)
        )
        held = (each.quota.nodes for queue in queues for each in queue.flavors if each.name == pool)
        return sum(held, Fraction(0))

    def _used(self, borrower: Lane, owner: Lane, lent: int) -> Fraction:
        """Return the nodes of these that their jobs fill, those of the borrower with what is lent to it."""
        pool = owner.flavors[0].name
        kin = [
            each
            for each in self.lanes
            if each.flavors[0].name == pool and self._are_kin(each.queue, owner.queue)
        ]
        pods = ((each, sum(each.own) + (lent if each is borrower else 0)) for each in kin)
        return sum(
            (each.filled(count) * each.sample.launch.part for each, count in pods), Fraction(0)
        )

    def _are_kin(self, queue: Queue, owner: Queue) -> bool:
        """Tell whether another queue is in the owner's tree of cohorts; who is in none has no kin."""
        roots = {self.site.cluster.lineage(each.team.cohort)[-1] for each in (queue, owner)}
        return queue.name != owner.name and len(roots) == 1 and "" not in roots
