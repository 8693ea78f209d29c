"""Lists that are longer than the objects that are made of them may be."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.platform import Platform
from trainyard.model.queue import Queue

WHY_LIMITED = (
    "The pools are the flavors of one ClusterQueue. The API server refuses a ClusterQueue with "
    "more than its CRD takes, and Argo CD's sync of the platform unit fails. The status of a "
    "LocalQueue may take fewer. Kueue then can't write it: the LocalQueue is never active, and the "
    "team's Application stays Progressing, although its jobs are admitted."
)


def queues(platform: Platform) -> Iterator[Queue]:
    return (queue for site in platform.sites for tenant in site.tenants for queue in tenant.queues)
