"""Iterators over the platform that several families of rules share."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import NamedTuple, TypeAlias

from trainyard.model import monitoring
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import RailFabric
from trainyard.model.hardware import Hardware
from trainyard.model.network import Egress
from trainyard.model.platform import Platform, Site
from trainyard.model.queue import Flavor
from trainyard.model.runtime import Runtime
from trainyard.model.settings import Settings
from trainyard.model.team import Allocation, Quota, Team
from trainyard.model.topology import Topology

AUDIT_LOG = f"{monitoring.AUDIT_LOG}/"
"""Prefix of the key that declares the owner of the audit log in a cluster's `external`."""

SHORTEST_PREFIX = 8
"""Shortest prefix of a range that an egress rule may open: 16 million addresses.
`isolation/open-egress` alone reports shorter ones."""


def active(platform: Platform) -> Iterator[Team]:
    """Yield each team that is not retired."""
    return (team for team in platform.teams if team.state != "retired")


def holdings(platform: Platform) -> Iterator[tuple[Team, list[Flavor]]]:
    """Yield each team that is not retired, with its flavors on all clusters."""
    flavors: dict[str, list[Flavor]] = {}
    for site in platform.sites:
        for tenant in site.tenants:
            flavors.setdefault(tenant.name, []).extend(tenant.flavors)
    return ((team, flavors[team.name]) for team in platform.teams if team.name in flavors)


def all_settings(platform: Platform) -> Iterator[Settings]:
    """Yield the settings of the repository, and those of each cluster, whose domain may differ."""
    yield platform.settings
    yield from (site.cluster.settings for site in platform.sites)


def quotas(platform: Platform) -> Iterator[tuple[Team, Quota]]:
    """Yield each quota of each team that is not retired."""
    for team, flavors in holdings(platform):
        for flavor in flavors:
            yield team, flavor.quota


def hardware(platform: Platform) -> tuple[Hardware, ...]:
    """Return the hardware profile of every pool, each once, sorted by name."""
    known: dict[str, Hardware] = {}
    for site in platform.sites:
        known.update((pool.hardware.name, pool.hardware) for pool in site.cluster.pools)
    return tuple(known[name] for name in sorted(known))


def hardware_of(platform: Platform, runtime: Runtime) -> list[Hardware]:
    """Return the hardware that a runtime lists and that some pool has, sorted by name."""
    return [node_type for node_type in hardware(platform) if node_type.name in runtime.hardware]


def listed_with_end(platform: Platform) -> Iterator[tuple[Team, Runtime]]:
    """Yield each team that is not retired with each runtime of its list that has a last day."""
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team in active(platform):
        for name in team.runtimes:
            if known[name].end:
                yield team, known[name]


def levels(platform: Platform) -> Iterator[tuple[Topology, int, str]]:
    """Yield each level of each topology, with its index in the list."""
    for site in platform.sites:
        for topology in site.cluster.topologies:
            for i, level in enumerate(topology.levels):
                yield topology, i, level


Holders: TypeAlias = list[tuple[str, Allocation]]
"""Teams with what each holds on a fabric."""


def allocated(platform: Platform) -> Iterator[tuple[Site, RailFabric, Holders]]:
    """Yield every fabric on rails with its allocations by team.

    Allocations are permanent, so retired teams and teams without a profile are included.
    """
    holders: dict[tuple[str, str], list[tuple[str, Allocation]]] = {}
    for cluster, fabric, team in sorted(platform.allocations):
        holders.setdefault((cluster, fabric), []).append(
            (team, platform.allocations[cluster, fabric, team])
        )
    for site in platform.sites:
        for each in site.cluster.rail_fabrics:
            yield site, each, holders.get((site.name, each.name), [])


class Held(NamedTuple):
    """What a team holds on a fabric of a cluster."""

    site: Site
    fabric: RailFabric
    team: str
    numbers: Allocation

    def holder(self, other: Held) -> str:
        """Return the team, with its cluster if the other one's is another."""
        apart = self.site is not other.site
        return f"team {self.team}{f' on {self.site.name}' if apart else ''}"


def held_by_network(platform: Platform) -> Iterator[list[Held]]:
    """Yield what teams hold on each network: fabrics of one link and `physical` name are one."""
    networks: dict[tuple[str, ...], list[Held]] = {}
    for site, fabric, holders in allocated(platform):
        alone = (site.name, fabric.name)
        network = (fabric.link.name, fabric.physical) if fabric.physical else ("", *alone)
        held = [Held(site, fabric, team, each) for team, each in holders]
        networks.setdefault(network, []).extend(held)
    yield from networks.values()


def ranges(cluster: Cluster) -> Iterator[tuple[Egress, int, IPv4Network]]:
    """Yield each address range that an egress rule opens, with its index in the rule's list.

    Ranges with a prefix shorter than `SHORTEST_PREFIX` are left out.
    """
    for egress in cluster.egress:
        for i, network in enumerate(map(IPv4Network, egress.cidrs)):
            if network.prefixlen >= SHORTEST_PREFIX:
                yield egress, i, network
