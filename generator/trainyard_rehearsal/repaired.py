"""A cluster as it is when all nodes are back and queues open: only then every promise is tried."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from trainyard.generation.generate import Generation
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor, Queue
from trainyard.model.team import Team
from trainyard.model.tenant import Tenant
from trainyard.render.site import render_site


def repaired(generation: Generation, components_root: str) -> Generation:
    """Return a generated tree as it is without any maintenance and with no queue held.

    A pool that drains is in use too; a team that drains leaves.

    Args:
        generation: without errors.
        components_root: path of the hand-written components relative to the tree.
    """
    platform = generation.checked.platform
    if platform is None or not any(map(_is_reduced, platform.sites)):
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


def held(site: Site) -> int:
    """Return how many teams have a queue that is held, or whose pool drains."""
    return sum(map(_is_held, site.tenants))


def _is_held(tenant: Tenant) -> bool:
    """Return whether a team that stays has a queue that is stopped."""
    if tenant.team.state == "draining":
        return False
    return not all(queue.state.is_open for queue in tenant.queues)


def _is_reduced(site: Site) -> bool:
    return bool(out_of_use(site) or held(site))


def _platform(platform: Platform) -> Platform:
    return replace(platform, sites=tuple(map(_site, platform.sites)))


def _site(site: Site) -> Site:
    pools = tuple(map(_pool, site.cluster.pools))
    tenants = tuple(map(_tenant, site.tenants))
    return replace(site, cluster=replace(site.cluster, pools=pools), tenants=tenants)


def _pool(pool: Pool) -> Pool:
    return replace(pool, maintenance=(), state="active")


def _tenant(tenant: Tenant) -> Tenant:
    team = _team(tenant.team, tenant.cluster.name)
    return replace(tenant, team=team, queues=tuple(map(_queue, tenant.queues)))


def _team(team: Team, cluster: str) -> Team:
    """Return a team that is active on a cluster where it is held."""
    stated = team.state_on(cluster)
    if stated.word != "held":
        return team
    states = {**team.states, cluster: replace(stated, word="active")}
    return replace(team, state="active", states=states)


def _queue(queue: Queue) -> Queue:
    team = _team(queue.team, queue.cluster.name)
    return replace(queue, team=team, flavors=tuple(map(_flavor, queue.flavors)))


def _flavor(flavor: Flavor) -> Flavor:
    quota = replace(flavor.quota, withheld=Fraction(0))
    return Flavor(_pool(flavor.pool), quota)
