"""Egress rules of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.model.cluster import Cluster
from trainyard.model.network import Egress
from trainyard.model.platform import Platform
from trainyard.rules._iterate import ranges


def egress_ranges(platform: Platform) -> Iterator[tuple[Cluster, Egress, int, IPv4Network]]:
    """Yield each limited range of every egress rule, with its index in the rule."""
    return (
        (site.cluster, *address_range)
        for site in platform.sites
        for address_range in ranges(site.cluster)
    )
