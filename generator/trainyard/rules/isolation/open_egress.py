"""Find ways out without destinations, ranges with a short prefix, and ranges that are many addresses together."""

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
        A way out says where it leads: to namespaces, or to at most 16 million addresses (a /8) in
        all.
    """,
    why="""
        Whatever a job reads it can send to any host of the Internet, and the default-deny policy
        denies nothing: a NetworkPolicy without destinations matches every one, and the API server
        drops the empty list, so Argo CD shows no drift (seen with Argo CD 3.5.7).
    """,
    fix="Name the networks that are needed: the object store, the mirror, the proxy.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for egress in (each for site in platform.sites for each in site.cluster.egress):
        networks = [IPv4Network(cidr) for cidr in egress.cidrs]
        wide = [i for i, network in enumerate(networks) if network.prefixlen < SHORTEST_PREFIX]
        addresses = sum(network.num_addresses for network in collapse_addresses(networks))
        if not networks and not egress.namespaces:
            message = (
                f"egress `{egress.name}` says neither `to` nor `namespaces`: "
                f"{_ports(egress)} of every host"
            )
            yield RULE.at(egress.at.key(), message)
        for i in wide:
            message = (
                f"egress `{egress.name}` leads to {networks[i]}: "
                f"{networks[i].num_addresses:,} addresses"
            )
            yield RULE.at(egress.at / "to" / i, message)
        if not wide and addresses > 1 << 32 - SHORTEST_PREFIX:
            message = (
                f"egress `{egress.name}` leads to {len(networks)} ranges with {addresses:,} "
                "addresses in all"
            )
            yield RULE.at(egress.at / "to", message)


def _ports(egress: Egress) -> str:
    return f"{'port' if len(egress.ports) == 1 else 'ports'} {', '.join(map(str, egress.ports))}"


CHECK = Check(RULE, find)
