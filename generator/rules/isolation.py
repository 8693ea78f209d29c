"""Ways out of the teams' namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from generator.diagnostics import Diagnostic, Note, Rule, Severity
from generator.model import names
from generator.model.cluster import Cluster
from generator.model.network import Egress
from generator.model.platform import Platform
from generator.rules._check import Check

SHORTEST_PREFIX = 8
"""Of a way out: 16 million addresses."""

OPEN_EGRESS = Rule(
    id="isolation/open-egress",
    severity=Severity.ERROR,
    summary="A way out leads to a network of at most 16 million addresses (/8).",
    why="Whatever a job reads it can send to any host of the Internet, and the default-deny policy denies nothing.",
    fix="Name the networks that are needed: the object store, the mirror, the proxy.",
)
EGRESS_REACHES_A_TENANT = Rule(
    id="isolation/egress-reaches-a-tenant",
    severity=Severity.ERROR,
    summary="No way out leads into a team's namespace.",
    why="Ways out hold for every team: each could send to the pods of that one, on ports that its own jobs listen on.",
    fix="Serve what is shared from a namespace that belongs to no team.",
)
EGRESS_REACHES_NODES = Rule(
    id="isolation/egress-reaches-nodes",
    severity=Severity.WARNING,
    summary="A way out by address leads out of the cluster; pods are named by their namespace.",
    why=(
        "OVN-Kubernetes judges a packet after service DNAT: an address of a service never matches, so the connection"
        " times out, and a range of pods opens the way to every namespace, the other teams' included."
    ),
    fix="Use `namespaces` and the pods' own port for what runs in the cluster.",
)


def open_egress(platform: Platform) -> Iterator[Diagnostic]:
    """Find ranges with a short prefix."""
    for _, egress, i, network in _ranges(platform):
        if network.prefixlen < SHORTEST_PREFIX:
            message = f"egress `{egress.name}` leads to {network}: {network.num_addresses:,} addresses"
            yield OPEN_EGRESS.at(egress.at / "to" / i, message)


def egress_reaches_a_tenant(platform: Platform) -> Iterator[Diagnostic]:
    """Find namespaces of teams among the ways out."""
    tenants = {names.namespace(team.name, space.name): team for team in platform.teams for space in team.spaces}
    for site in platform.sites:
        for egress in site.cluster.egress:
            for i, namespace in enumerate(egress.namespaces):
                if namespace in tenants:
                    team = tenants[namespace]
                    message = f"egress `{egress.name}` lets every team reach the namespace of team {team.name}"
                    yield EGRESS_REACHES_A_TENANT.at(
                        egress.at / "namespaces" / i, message, notes=[Note(f"team {team.name}", team.at)]
                    )


def egress_reaches_nodes(platform: Platform) -> Iterator[Diagnostic]:
    """Find ranges that overlap the cluster's pods or services; those that are open to all are told of already."""
    for cluster, egress, i, network in _ranges(platform):
        for name in ("pods", "services"):
            own = cluster.networks[name]
            if network.prefixlen >= SHORTEST_PREFIX and network.overlaps(own):
                message = f"egress `{egress.name}` leads to {network}, which overlaps {own} of the cluster's {name}"
                notes = [Note(f"the cluster's {name}", cluster.at / "networks" / name)]
                yield EGRESS_REACHES_NODES.at(egress.at / "to" / i, message, notes=notes)


def _ranges(platform: Platform) -> Iterator[tuple[Cluster, Egress, int, IPv4Network]]:
    for site in platform.sites:
        for egress in site.cluster.egress:
            for i, cidr in enumerate(egress.cidrs):
                yield site.cluster, egress, i, IPv4Network(cidr)


CHECKS = (
    Check(OPEN_EGRESS, open_egress),
    Check(EGRESS_REACHES_A_TENANT, egress_reaches_a_tenant),
    Check(EGRESS_REACHES_NODES, egress_reaches_nodes),
)
