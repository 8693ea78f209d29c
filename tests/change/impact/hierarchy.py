"""Kueue's arithmetic of a tree of cohorts, node by node, as upstream adds up what is used.

Source: kubernetes-sigs/kueue:pkg/cache/scheduler/resource_node.go@v0.19.2, `available` and
`addUsage`. Our cohorts have no quota and no limits of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.change.impact.mixes import Holding


@dataclass
class Node:
    """A cohort, or a team's queue."""

    parent: Node | None = None
    subtree: int = 0
    guaranteed: int = 0
    borrow: int | None = None
    usage: int = 0

    def available(self) -> int:
        """Return what a job may still take."""
        if self.parent is None:
            return self.subtree - self.usage
        from_parent = self.parent.available()
        if self.borrow is not None:
            stored = self.subtree - self.guaranteed
            used = max(0, self.usage - self.guaranteed)
            from_parent = min(stored - used + self.borrow, from_parent)
        return max(0, self.guaranteed - self.usage) + from_parent

    def add(self, amount: int) -> None:
        """Count a job here, and above what is not guaranteed here."""
        own = max(0, self.guaranteed - self.usage)
        self.usage += amount
        if self.parent and amount > own:
            self.parent.add(amount - own)


@dataclass
class Forest:
    """The trees of cohorts of some teams."""

    cohorts: dict[str, Node] = field(default_factory=dict)
    queues: dict[str, Node] = field(default_factory=dict)

    def add(self, team: str, holding: Holding, path: tuple[str, ...]) -> None:
        """Add a team below its cohorts, which are listed from the root down."""
        parent = None
        for name in path:
            parent = self.cohorts.setdefault(name, Node(parent))
        guaranteed = holding.own - holding.lend
        self.queues[team] = Node(parent, holding.own, guaranteed, holding.borrow)
        while parent:
            parent.subtree += holding.lend
            parent = parent.parent

    def fits(self, used: Mapping[str, int]) -> bool:
        """Return whether all jobs of some teams are admitted, one team after the other."""
        for team, amount in used.items():
            if amount > self.queues[team].available():
                return False
            self.queues[team].add(amount)
        return True
