"""Find the queues that lend nodes to other queues, and the nodes that full queues leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from trainyard.model.platform import Site
from trainyard.model.queue import Queue
from trainyard_rehearsal.checks.job_templates import JobTemplate


@dataclass(frozen=True, slots=True)
class LendingPair:
    """A queue that may borrow nodes from another one.

    Args:
        lent: number of the borrower's pods that the lent nodes of the owner hold.
        spare: nodes left when every queue but the owner's is full and the borrower has everything
            that the owner lends. Jobs need not fill a quota exactly, and some queues have no jobs.
    """

    borrower: JobTemplate
    owner: JobTemplate
    lent: int
    spare: Fraction

    @property
    def forces_reclaim(self) -> bool:
        """Return whether the owner's jobs fit only when it reclaims lent nodes."""
        wanted = self.owner.fillable(sum(self.owner.own_pods)) * self.owner.part
        lent = self.lent * self.borrower.part
        return wanted > self.owner.flavors[0].quota.nodes - lent + self.spare

    @property
    def shows_limit(self) -> bool:
        """Return whether only the owner's lending limit stops the borrower's next job."""
        quota = self.owner.flavors[0].quota
        borrowable = sum(self.borrower.maximum_pods) - sum(self.borrower.own_pods)
        fits_elsewhere = self.spare >= self.borrower.smallest * self.borrower.part
        return quota.lend < quota.nodes and self.lent < borrowable and not fits_elsewhere


@dataclass(frozen=True, slots=True)
class Lending:
    """Queues of a cluster that may lend nodes.

    Args:
        templates: one for each flavor of each queue.
    """

    site: Site
    templates: Sequence[JobTemplate]

    def pairs(self) -> list[LendingPair]:
        """Return each borrower with each owner that may lend to it."""
        return [
            self._pair(borrower, owner)
            for borrower in self.templates
            for owner in self.templates
            if self._may_borrow(borrower, owner)
        ]

    def _may_borrow(self, borrower: JobTemplate, owner: JobTemplate) -> bool:
        same = owner.flavors[0].name == borrower.flavors[0].name
        lends = bool(owner.flavors[0].quota.lend) and bool(borrower.flavors[0].quota.borrow)
        return same and lends and self._share_cohort_tree(borrower.queue, owner.queue)

    def _pair(self, borrower: JobTemplate, owner: JobTemplate) -> LendingPair:
        nodes = min(borrower.flavors[0].quota.borrow, owner.flavors[0].quota.lend)
        lent = int(nodes / borrower.part)
        used = self._used(borrower, owner, lent)
        spare = self._quota_of_others(owner) + lent * borrower.part - used
        return LendingPair(borrower, owner, lent, spare)

    def _quota_of_others(self, owner: JobTemplate) -> Fraction:
        """Return the nominal quota, in nodes, of all queues that the owner could borrow from."""
        total = Fraction(0)
        for tenant in self.site.tenants:
            for queue in tenant.queues:
                if self._share_cohort_tree(queue, owner.queue):
                    total += _nodes_in(queue, owner.flavors[0].name)
        return total

    def _used(self, borrower: JobTemplate, owner: JobTemplate, lent: int) -> Fraction:
        """Return the nodes that jobs of these queues fill; the borrower also fills what is lent."""
        total = Fraction(0)
        for template in self.templates:
            same_pool = template.flavors[0].name == owner.flavors[0].name
            if same_pool and self._share_cohort_tree(template.queue, owner.queue):
                pods = sum(template.own_pods) + (lent if template is borrower else 0)
                total += template.fillable(pods) * template.part
        return total

    def _share_cohort_tree(self, queue: Queue, owner: Queue) -> bool:
        """Return whether another queue is in the owner's tree of cohorts."""
        roots = {self.site.cluster.lineage(each.team.cohort)[-1] for each in (queue, owner)}
        return queue.name != owner.name and len(roots) == 1 and "" not in roots


def _nodes_in(queue: Queue, pool: str) -> Fraction:
    nodes = (flavor.quota.nodes for flavor in queue.flavors if flavor.name == pool)
    return sum(nodes, Fraction(0))
