"""Quota as Kueue sees it: nodes expanded to every resource of a node, in the node's own proportions."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_amount
from trainyard.model.team import Quota, Team


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """One resource of one flavor; amounts are canonical quantities."""

    name: str
    nominal: str
    borrowing: str
    lending: str


@dataclass(frozen=True, slots=True)
class Flavor:
    """A team's quota on one pool."""

    pool: Pool
    quota: Quota

    @property
    def name(self) -> str:
        """Name of the ResourceFlavor."""
        return self.pool.name

    def resources(self, covered: tuple[str, ...]) -> tuple[ResourceQuota, ...]:
        """Return the quota of every covered resource: nodes times what a node is worth, and none of what it lacks."""
        allocatable = self.pool.allocatable
        return tuple(
            ResourceQuota(
                name,
                format_amount(name, int(self.quota.nodes * allocatable.get(name, 0))),
                format_amount(name, int(self.quota.borrow * allocatable.get(name, 0))),
                format_amount(name, int(self.quota.lend * allocatable.get(name, 0))),
            )
            for name in covered
        )


@dataclass(frozen=True, slots=True)
class QueuedFlavor:
    """A flavor as a ClusterQueue lists it."""

    name: str
    resources: tuple[ResourceQuota, ...]


@dataclass(frozen=True, slots=True)
class Queue:
    """A team's ClusterQueue for one class of node, and the LocalQueue that leads to it.

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
    def covered(self) -> tuple[str, ...]:
        """Names of what any flavor gives, in the order of every flavor (Kueue's webhook compares the order)."""
        return tuple(sorted({name for flavor in self.flavors for name in flavor.pool.allocatable}))

    @property
    def quotas(self) -> tuple[QueuedFlavor, ...]:
        """The flavors in order of preference, each with every covered resource."""
        return tuple(
            QueuedFlavor(flavor.name, flavor.resources(self.covered)) for flavor in self.flavors
        )

    @property
    def when_can_borrow(self) -> str:
        """Whether a job borrows nodes of one flavor before it looks for own nodes of the next."""
        return "TryNextFlavor" if len(self.flavors) > 1 else "MayStopSearch"

    @property
    def stop_policy(self) -> str:
        """What a draining team's queue does: running jobs are evicted, new ones wait."""
        return "HoldAndDrain" if self.team.is_draining else "None"

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces that may use it: by the label that the API server sets and no tenant can."""
        return tuple(names.namespace(self.team.name, space.name) for space in self.team.spaces)

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the ClusterQueue."""
        return {**self.cluster.labels, self.cluster.team_label_key: self.team.name}
