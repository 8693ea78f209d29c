"""Quota as Kueue counts it: nodes become amounts of every resource of a node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_amount
from trainyard.model.state import State, furthest
from trainyard.model.team import Quota, Team


@dataclass(frozen=True, slots=True)
class CoveredResource:
    """One resource of one flavor: what a quota's nodes have of it, as canonical quantities."""

    name: str
    nodes: str
    borrow: str
    lend: str


@dataclass(frozen=True, slots=True)
class Flavor:
    """A team's quota on one pool."""

    pool: Pool
    quota: Quota

    @property
    def name(self) -> str:
        """Name of the ResourceFlavor."""
        return self.pool.name

    @property
    def in_use(self) -> Flavor:
        """The quota on the nodes that are not in maintenance."""
        return Flavor(self.pool.in_use, self.quota.in_use)

    def resources(self, covered: tuple[str, ...]) -> tuple[CoveredResource, ...]:
        """Return the quota of every covered resource; 0 for one that the pool's nodes lack.

        Nodes in maintenance do not count.
        """
        quota = self.quota.in_use
        return tuple(
            CoveredResource(
                name,
                nodes=format_amount(name, self.amount(name, quota.nodes)),
                borrow=format_amount(name, self.amount(name, quota.borrow)),
                lend=format_amount(name, self.amount(name, quota.lend)),
            )
            for name in covered
        )

    def amount(self, resource: str, nodes: Fraction) -> int:
        """Return what some nodes have of a resource, in base units."""
        return int(nodes * self.pool.countable.get(resource, 0))


@dataclass(frozen=True, slots=True)
class Queue:
    """A team's ClusterQueue for one class of node.

    Args:
        flavors: in order of preference.
    """

    team: Team
    cluster: Cluster
    node_class: str
    flavors: tuple[Flavor, ...]

    @property
    def name(self) -> str:
        """Name of the ClusterQueue."""
        return names.cluster_queue(self.team.name, self.node_class)

    @property
    def state(self) -> State:
        """The state of its team, or of a pool that is nearer to the end; of equal ones the first.

        Kueue holds and drains a queue as a whole.
        """
        stated = (flavor.pool.stated for flavor in self.flavors)
        return furthest(self.team.state_on(self.cluster.name), *stated)

    @property
    def in_use(self) -> Queue:
        """The queue on the nodes that are not in maintenance."""
        return replace(self, flavors=tuple(flavor.in_use for flavor in self.flavors))

    @property
    def covered(self) -> tuple[str, ...]:
        """Names of the resources of any flavor, in the one order that Kueue's webhook demands."""
        resources = chain.from_iterable(flavor.pool.countable for flavor in self.flavors)
        return tuple(sorted(set(resources)))


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A name in a namespace under which jobs ask for a queue."""

    name: str
    queue: Queue
