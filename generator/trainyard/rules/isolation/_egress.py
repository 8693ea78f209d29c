"""Egress rules of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.diagnostics import Pointer
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


def reached_namespaces(cluster: Cluster) -> Iterator[tuple[str, str, Pointer]]:
    """Yield each namespace that a profile opens to all teams, with what opens it and where.

    The namespace of the release's own name servers is not among them: it is the platform's.
    """
    for egress in cluster.egress:
        for i, namespace in enumerate(egress.namespaces):
            yield namespace, f"egress rule `{egress.name}`", egress.at / "namespaces" / i
    if cluster.dns.namespace != cluster.release.dns.namespace:
        yield cluster.dns.namespace, "`dns`", cluster.dns.at / "namespace"
