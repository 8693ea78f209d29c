"""Find egress rules to link-local addresses, and name servers at the metadata service.

Very large ranges have another rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.dns import METADATA_SERVICE
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.isolation._egress import egress_ranges

LINK_LOCAL = IPv4Network("169.254.0.0/16")


RULE = Rule(
    id="isolation/link-local-egress",
    severity=Severity.ERROR,
    summary="""
        No egress rule leads to link-local addresses (169.254.0.0/16), and no name server has that
        of the metadata service.
    """,
    why="""
        Jobs can get the node's credentials from a cloud's metadata service, which gives them to
        anyone who asks at 169.254.169.254.
    """,
    fix="""
        Remove it. The cache of NodeLocal DNSCache belongs into `dns`, under `addresses`. On GKE
        with Cloud DNS, pods ask 169.254.169.254 for names: use kube-dns or NodeLocal DNSCache for
        this cluster.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for _, egress, i, network in egress_ranges(platform):
        if network.overlaps(LINK_LOCAL):
            message = (
                f"egress rule `{egress.name}` leads to {network}, which has link-local addresses"
            )
            yield RULE.at(egress.at / "to" / i, message)
    for site in platform.sites:
        dns = site.cluster.dns
        for i, address in enumerate(dns.addresses):
            if address == METADATA_SERVICE:
                message = f"name server {address} is the metadata service of clouds"
                yield RULE.at(dns.at / "addresses" / i, message)


CHECK = Check(RULE, find)
