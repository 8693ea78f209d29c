"""View of a queue."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model.queue import Queue


@dataclass(frozen=True, slots=True)
class QueueView:
    """A team's ClusterQueue, as templates read it."""

    queue: Queue

    @property
    def when_can_borrow(self) -> str:
        """Kueue's order: own nodes of the next flavor come before borrowed ones of this."""
        return "TryNextFlavor" if len(self.queue.flavors) > 1 else "MayStopSearch"

    @property
    def stop_policy(self) -> str:
        """Kueue's policy: the queue of a draining team evicts running jobs and admits none."""
        return "HoldAndDrain" if self.queue.team.is_draining else "None"
