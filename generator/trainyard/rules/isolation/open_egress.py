"""Find egress rules without destinations, or with too many addresses in one or all ranges."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.network import Egress
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import SHORTEST_PREFIX

RULE = Rule(
    id="isolation/open-egress",
    severity=Severity.ERROR,
    summary="""
        An egress rule names its destinations: namespaces, or at most 16 million addresses (a /8) in
        all.
    """,
    why="""
        A job can send everything that it reads to any host of the Internet, and the default-deny
        policy denies nothing: a NetworkPolicy without destinations matches every one. Argo CD shows
        no drift, because the API server drops the empty list (seen with Argo CD 3.5.7).
    """,
    fix="Name in `to` only the networks that jobs need: the object store, the mirror, the proxy.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for egress in site.cluster.egress:
            yield from _check(egress)


def _check(egress: Egress) -> Iterator[Diagnostic]:
    networks = [IPv4Network(cidr) for cidr in egress.cidrs]
    if not networks and not egress.namespaces:
        message = (
            f"egress rule `{egress.name}` has neither `to` nor `namespaces`: {_ports(egress)} of "
            "every host"
        )
        yield RULE.at(egress.at.key(), message)
    too_large = list(_too_large(egress, networks))
    yield from too_large
    addresses = sum(network.num_addresses for network in collapse_addresses(networks))
    if not too_large and addresses > 1 << 32 - SHORTEST_PREFIX:
        message = (
            f"egress rule `{egress.name}` leads to {len(networks)} ranges with {addresses:,} "
            "addresses in all"
        )
        yield RULE.at(egress.at / "to", message)


def _too_large(egress: Egress, networks: list[IPv4Network]) -> Iterator[Diagnostic]:
    for i, network in enumerate(networks):
        if network.prefixlen < SHORTEST_PREFIX:
            message = (
                f"egress rule `{egress.name}` leads to {network}: {network.num_addresses:,} "
                "addresses"
            )
            yield RULE.at(egress.at / "to" / i, message)


def _ports(egress: Egress) -> str:
    """Return the ports of a rule, for a message."""
    return f"{'port' if len(egress.ports) == 1 else 'ports'} {', '.join(map(str, egress.ports))}"


CHECK = Check(RULE, find)
