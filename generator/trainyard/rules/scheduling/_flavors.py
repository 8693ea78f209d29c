"""Pools that are flavors of the same queue."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from operator import attrgetter

from trainyard.model.platform import Platform
from trainyard.model.pool import Pool


def neighbours(platform: Platform) -> Iterator[tuple[Pool, Pool, str]]:
    """Yield each pair of pools in one queue, sorted by name, with the first queue that has both."""
    for site in platform.sites:
        pairs: dict[tuple[str, str], tuple[Pool, Pool, str]] = {}
        for queue in chain.from_iterable(tenant.queues for tenant in site.tenants):
            pools = sorted((flavor.pool for flavor in queue.flavors), key=attrgetter("name"))
            for one, two in combinations(pools, 2):
                pairs.setdefault((one.name, two.name), (one, two, queue.name))
        yield from pairs.values()
