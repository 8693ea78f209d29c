"""Maximum lengths of lists in ClusterQueues and LocalQueues."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.platform import Platform
from trainyard.model.queue import Queue

WHY_LIMITED = (
    "Argo CD's sync of the platform unit fails: the pools are the flavors of one ClusterQueue, and "
    "the API server refuses a ClusterQueue with more than its CRD allows. The status of a "
    "LocalQueue may allow fewer. Kueue then can't write this status: the LocalQueue is never "
    "active, and the team's Application stays Progressing, although its jobs are admitted."
)


def queues(platform: Platform) -> Iterator[Queue]:
    """Yield every team's queues on each cluster."""
    for site in platform.sites:
        for tenant in site.tenants:
            yield from tenant.queues
