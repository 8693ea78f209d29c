"""Quota of the ClusterQueues and Cohorts of a cluster, as Kueue computes it.

Source: kubernetes-sigs/kueue:pkg/cache/scheduler/resource_node.go@v0.19.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.model.lookup import mapping, mappings
from trainyard.model.quantity import in_base_units
from trainyard_jobs.fit.objects import Objects

Amount = tuple[str, str]
"""Flavor and resource."""

Usage = Mapping[Amount, int]
"""In base units."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A queue's quota of one resource of one flavor, in base units; None means no limit."""

    nominal: int
    borrowing: int | None
    lending: int | None


@dataclass(slots=True)
class Cohorts:
    """All queues of a cluster with what each has and uses.

    Args:
        parents: queue or cohort -> its cohort; ``queue/NAME`` and ``cohort/NAME``.
        limits: queue -> its quota.
        usage: queue -> what its admitted jobs use.
    """

    parents: dict[str, str]
    limits: dict[str, dict[Amount, Limits]]
    usage: Mapping[str, Usage] = field(default_factory=dict)

    def line(self, queue: str) -> Iterator[str]:
        """Yield the cohorts above a queue, the root last; a cycle is gone around once."""
        seen = {queue}
        while (queue := self.parents.get(queue, "")) and queue not in seen:
            seen.add(queue)
            yield queue

    def children(self, cohort: str) -> list[str]:
        """Return the queues and cohorts directly in a cohort, by name."""
        return sorted(name for name, parent in self.parents.items() if parent == cohort)

    def sharing(self, queue: str) -> list[str]:
        """Return a queue and all that are in a cohort with it, by name."""
        root = [queue, *self.line(queue)][-1]
        return sorted(limit for limit in self.limits if root in {limit, *self.line(limit)})

    def limit(self, node: str, amount: Amount) -> Limits | None:
        """Return the quota of a queue; None for a cohort, or a resource that it has not."""
        return self.limits.get(node, {}).get(amount)

    def nominal(self, queue: str, amount: Amount) -> int:
        """Return the quota of a queue, without what it may borrow."""
        limit = self.limit(queue, amount)
        return limit.nominal if limit else 0

    def subtree(self, node: str, amount: Amount) -> int:
        """Return the quota of a queue, or what a cohort gets from its members."""
        if node in self.limits:
            return self.nominal(node, amount)
        lent = 0
        for child in self.children(node):
            lent += self.subtree(child, amount) - self.local(child, amount)
        return lent

    def local(self, node: str, amount: Amount) -> int:
        """Return the part of a node's quota that it never lends."""
        limit = self.limit(node, amount)
        if limit is None or limit.lending is None:
            return 0
        return max(0, self.subtree(node, amount) - limit.lending)

    def used(self, node: str, amount: Amount) -> int:
        """Return what is used of a node's quota."""
        if node in self.limits:
            return self.usage.get(node, {}).get(amount, 0)
        borrowed = 0
        for child in self.children(node):
            borrowed += max(0, self.used(child, amount) - self.local(child, amount))
        return borrowed

    def local_available(self, node: str, amount: Amount) -> int:
        """Return what is left of the part that a node never lends."""
        return max(0, self.local(node, amount) - self.used(node, amount))

    def available(self, node: str, amount: Amount) -> int:
        """Return what a node can still use now, borrowing included."""
        parent = self.parents.get(node)
        if not parent:
            return self.subtree(node, amount) - self.used(node, amount)
        above = self.available(parent, amount)
        limit = self.limit(node, amount)
        if limit is not None and limit.borrowing is not None:
            local = self.local(node, amount)
            stored = self.subtree(node, amount) - local
            taken = max(0, self.used(node, amount) - local)
            above = min(above, stored - taken + limit.borrowing)
        return self.local_available(node, amount) + above

    def potential(self, node: str, amount: Amount) -> int:
        """Return what a node can use when nobody uses anything."""
        parent = self.parents.get(node)
        if not parent:
            return self.subtree(node, amount)
        most = self.local(node, amount) + self.potential(parent, amount)
        limit = self.limit(node, amount)
        if limit is not None and limit.borrowing is not None:
            most = min(most, self.subtree(node, amount) + limit.borrowing)
        return most

    def borrows_with(self, node: str, amount: Amount, more: int) -> bool:
        """Return whether a node would use more than its own quota with a further amount."""
        return self.used(node, amount) + more > self.subtree(node, amount)

    def is_within(self, node: str, amounts: Iterable[Amount]) -> bool:
        """Return whether a node uses no more than its own quota of some resources."""
        return all(self.used(node, amount) <= self.subtree(node, amount) for amount in amounts)

    def changed(self, queue: str, usage: Usage, sign: int) -> None:
        """Add what a job uses to its queue (1), or take it away (-1)."""
        total = Counter(self.usage.get(queue, {}))
        for amount, value in usage.items():
            total[amount] += sign * value
        self.usage = {**self.usage, queue: total}


def cohorts_of(objects: Objects) -> Cohorts:
    """Return the queues of a cluster, all unused."""
    parents, limits = {}, {}
    for manifest in objects.of("ClusterQueue"):
        name = queue_node(manifest.name)
        limits[name] = dict(_limits(manifest.body))
        if cohort := mapping(manifest.body, "spec").get("cohortName"):
            parents[name] = _cohort_node(cohort)
    for manifest in objects.of("Cohort"):
        if parent := mapping(manifest.body, "spec").get("parentName"):
            parents[_cohort_node(manifest.name)] = _cohort_node(parent)
    return Cohorts(parents, limits)


def queue_node(name: str) -> str:
    """Return the node of a ClusterQueue; a cohort may have the same name."""
    return f"queue/{name}"


def _cohort_node(name: str) -> str:
    return f"cohort/{name}"


def _limits(queue: dict[str, Any]) -> Iterator[tuple[Amount, Limits]]:
    for group in mappings(queue, "spec", "resourceGroups"):
        for flavor in mappings(group, "flavors"):
            for resource in mappings(flavor, "resources"):
                nominal = _quantity(resource, "nominalQuota") or 0
                borrowing = _quantity(resource, "borrowingLimit")
                limits = Limits(nominal, borrowing, _quantity(resource, "lendingLimit"))
                yield (str(flavor["name"]), str(resource["name"])), limits


def _quantity(resource: dict[str, Any], limit: str) -> int | None:
    quantity = resource.get(limit)
    return None if quantity is None else in_base_units(str(resource["name"]), str(quantity))
