"""Ways through the platform that several families take."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.model.cluster import Cluster
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import Hardware
from trainyard.model.network import Egress
from trainyard.model.platform import Platform, Site
from trainyard.model.queue import Flavor
from trainyard.model.team import Allocation, Quota, Team
from trainyard.model.tenant import Tenant

SHORTEST_PREFIX = 8
"""Of a way out: 16 million addresses. Shorter ones lead everywhere, which one rule alone tells."""


def held(tenant: Tenant) -> Iterator[Flavor]:
    """Yield a team's quota on each pool of one cluster."""
    for queue in tenant.queues:
        yield from queue.flavors


def shares(site: Site) -> dict[str, list[tuple[Tenant, Quota]]]:
    """Return every team's quota by pool; a pool that nobody has a share of is there too."""
    found: dict[str, list[tuple[Tenant, Quota]]] = {pool.name: [] for pool in site.cluster.pools}
    for tenant in site.tenants:
        for flavor in held(tenant):
            found[flavor.pool.name].append((tenant, flavor.quota))
    return found


def active(platform: Platform) -> Iterator[Team]:
    """Yield each team that is not retired."""
    return (team for team in platform.teams if team.state != "retired")


def holdings(platform: Platform) -> Iterator[tuple[Team, list[Flavor]]]:
    """Yield each team that is not retired with its quota on every pool of every cluster."""
    found: dict[str, list[Flavor]] = {}
    for site in platform.sites:
        for tenant in site.tenants:
            found.setdefault(tenant.name, []).extend(held(tenant))
    return ((team, found[team.name]) for team in platform.teams if team.name in found)


def hardware(platform: Platform) -> tuple[Hardware, ...]:
    """Return the hardware of every pool, each profile once, by name."""
    known = {
        pool.hardware.name: pool.hardware for site in platform.sites for pool in site.cluster.pools
    }
    return tuple(each for _, each in sorted(known.items()))


def allocated(platform: Platform) -> Iterator[tuple[Site, Fabric, list[tuple[str, Allocation]]]]:
    """Yield every fabric with what is held of it, by team; teams that are retired or gone hold theirs for ever."""
    found: dict[tuple[str, str], list[tuple[str, Allocation]]] = {}
    for cluster, fabric, team in sorted(platform.allocations):
        found.setdefault((cluster, fabric), []).append(
            (team, platform.allocations[cluster, fabric, team])
        )
    for site in platform.sites:
        for each in site.cluster.fabrics:
            yield site, each, found.get((site.name, each.name), [])


def ranges(cluster: Cluster) -> Iterator[tuple[Egress, int, IPv4Network]]:
    """Yield each range that a way out leads to, with its place in the list; those that lead everywhere are left out."""
    for egress in cluster.egress:
        for i, network in enumerate(map(IPv4Network, egress.cidrs)):
            if network.prefixlen >= SHORTEST_PREFIX:
                yield egress, i, network
