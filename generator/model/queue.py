"""Quota as Kueue sees it: nodes expanded to every resource of a node, in the node's own proportions."""

from __future__ import annotations

from dataclasses import dataclass

from generator.model import names
from generator.model.cluster import Cluster
from generator.model.pool import Pool
from generator.model.quantity import format_amount
from generator.model.team import Quota, Team


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

    @property
    def resources(self) -> tuple[ResourceQuota, ...]:
        """Every covered resource: nodes times what a node is worth."""
        return tuple(
            ResourceQuota(
                name,
                format_amount(name, self.quota.nodes * amount),
                format_amount(name, self.quota.borrow * amount),
                format_amount(name, self.quota.lend * amount),
            )
            for name, amount in self.pool.hardware.worth(self.pool.prefix).items()
        )


@dataclass(frozen=True, slots=True)
class Queue:
    """A team's ClusterQueue for one class of node, and the LocalQueue that leads to it."""

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
        """Names of the covered resources, in the order of every flavor (Kueue's webhook compares the order)."""
        return tuple(resource.name for resource in self.flavors[0].resources)

    @property
    def stop_policy(self) -> str:
        """What a draining team's queue does: running jobs are evicted, new ones wait."""
        return "HoldAndDrain" if self.team.state == "draining" else "None"

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces that may use it: by the label that the API server sets and no tenant can."""
        return (names.namespace(self.team.name),)

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the ClusterQueue."""
        return {**self.cluster.labels, self.cluster.team_label_key: self.team.name}
