"""Find egress rules without destinations, or with too many addresses in one or all ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, collapse_addresses
from itertools import chain

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.network import Egress
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import SHORTEST_PREFIX

RULE = Rule(
    id="isolation/open-egress",
    severity=Severity.ERROR,
    summary="""
        An egress rule names its destinations: namespaces, or at most 16 million addresses (a /8) in
        all. The rules of a cluster that apply to one pod have at most 67 million together (a /6).
    """,
    why="""
        A job can send everything that it reads to any host of the Internet, and the default-deny
        policy denies nothing: a NetworkPolicy without destinations matches every one. Argo CD shows
        no drift, because the API server drops the empty list (seen with Argo CD 3.5.7).
    """,
    fix="Name in `to` only the networks that jobs need: the object store, the mirror, the proxy.",
)

_MOST_TOGETHER = 1 << 32 - 6
"""Addresses that all rules for one pod may open: private networks, and some of others."""


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        findings = list(chain.from_iterable(map(_check, site.cluster.egress)))
        yield from findings or _together(site.cluster)


def _together(cluster: Cluster) -> Iterator[Diagnostic]:
    """Yield whose pods reach too many addresses by all rules: NetworkPolicies add up."""
    for source in sorted({egress.source for egress in cluster.egress}):
        rules = [each for each in cluster.egress if each.source in {source, "all"}]
        addresses = _count(IPv4Network(cidr) for egress in rules for cidr in egress.cidrs)
        if addresses > _MOST_TOGETHER:
            message = (
                f"{len(rules)} egress rules for {source} lead to {addresses:,} addresses together"
            )
            yield RULE.at((cluster.at / "egress").key(), message)
            return


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
    addresses = _count(networks)
    if not too_large and addresses > 1 << 32 - SHORTEST_PREFIX:
        message = (
            f"egress rule `{egress.name}` leads to {len(networks)} ranges with {addresses:,} "
            "addresses in all"
        )
        yield RULE.at(egress.at / "to", message)


def _count(networks: Iterable[IPv4Network]) -> int:
    """Return how many addresses some ranges have; each counts once."""
    return sum(network.num_addresses for network in collapse_addresses(networks))


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
