"""Views of a queue and its flavors."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model import names
from trainyard.model.queue import CoveredResource, Queue
from trainyard.render.views.cluster import ClusterView


@dataclass(frozen=True, slots=True)
class QueuedFlavor:
    """A flavor as a ClusterQueue lists it."""

    name: str
    resources: tuple[CoveredResource, ...]


@dataclass(frozen=True, slots=True)
class QueueView:
    """A team's ClusterQueue, as templates read it."""

    queue: Queue

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the ClusterQueue."""
        cluster = self.queue.cluster
        return {**ClusterView(cluster).labels, cluster.team_label_key: self.queue.team.name}

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces that may use it: by the label that the API server sets and no tenant can."""
        team = self.queue.team
        return tuple(names.namespace(team.name, space.name) for space in team.spaces)

    @property
    def quotas(self) -> tuple[QueuedFlavor, ...]:
        """The flavors in order of preference, each with every covered resource."""
        covered = self.queue.covered
        return tuple(
            QueuedFlavor(flavor.name, flavor.resources(covered)) for flavor in self.queue.flavors
        )

    @property
    def when_can_borrow(self) -> str:
        """Kueue's order: own nodes of the next flavor come before borrowed ones of this."""
        return "TryNextFlavor" if len(self.queue.flavors) > 1 else "MayStopSearch"

    @property
    def stop_policy(self) -> str:
        """Kueue's policy: the queue of a draining team evicts running jobs and admits none."""
        return "HoldAndDrain" if self.queue.team.is_draining else "None"
