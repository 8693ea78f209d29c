"""A cluster as it is when all nodes are back: only then can every promise be tried."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from trainyard.generation.generate import Generation
from trainyard.model.platform import Platform, Site
from trainyard.model.queue import Flavor, Queue
from trainyard.render.site import render_site


def repaired(generation: Generation, components_root: str) -> Generation:
    """Return a generated tree as it is without any maintenance.

    Args:
        generation: without errors.
        components_root: path of the hand-written components relative to the tree.
    """
    platform = generation.checked.platform
    if platform is None or not any(map(out_of_use, platform.sites)):
        return generation
    whole = _platform(platform)
    manifests = {
        site.name: render_site(site, components_root)
        for site in whole.sites
        if site.name in generation.manifests
    }
    checked = replace(generation.checked, platform=whole)
    return replace(generation, checked=checked, manifests=manifests)


def out_of_use(site: Site) -> int:
    """Return how many nodes of a cluster are in maintenance."""
    return sum(len(pool.out_of_use) for pool in site.cluster.pools)


def _platform(platform: Platform) -> Platform:
    return replace(platform, sites=tuple(map(_site, platform.sites)))


def _site(site: Site) -> Site:
    pools = tuple(replace(pool, maintenance=()) for pool in site.cluster.pools)
    tenants = tuple(
        replace(tenant, queues=tuple(map(_queue, tenant.queues))) for tenant in site.tenants
    )
    return replace(site, cluster=replace(site.cluster, pools=pools), tenants=tenants)


def _queue(queue: Queue) -> Queue:
    return replace(queue, flavors=tuple(map(_flavor, queue.flavors)))


def _flavor(flavor: Flavor) -> Flavor:
    quota = replace(flavor.quota, withheld=Fraction(0))
    return Flavor(replace(flavor.pool, maintenance=()), quota)
