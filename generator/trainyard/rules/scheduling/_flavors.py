"""Pools of several kinds in one queue: what lets Kueue tell them apart, and choose."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from trainyard.model.platform import Platform
from trainyard.model.pool import Pool


def neighbours(platform: Platform) -> Iterator[tuple[Pool, Pool, str]]:
    """Yield each two pools that some queue of a cluster has, once, with the first such queue."""
    for site in platform.sites:
        found: dict[tuple[str, str], tuple[Pool, Pool, str]] = {}
        for queue in (queue for tenant in site.tenants for queue in tenant.queues):
            pools = sorted((flavor.pool for flavor in queue.flavors), key=lambda each: each.name)
            for one, two in combinations(pools, 2):
                found.setdefault((one.name, two.name), (one, two, queue.name))
        yield from found.values()
