"""Find ranges with link-local addresses; those that are open to all are told of already."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.isolation._shared import egress_ranges

LINK_LOCAL = IPv4Network("169.254.0.0/16")


RULE = Rule(
    id="isolation/link-local-egress",
    severity=Severity.ERROR,
    summary="No way out leads to link-local addresses (169.254.0.0/16).",
    why="""
        169.254.169.254 is a cloud's metadata service: it gives the node's credentials to whoever
        asks.
    """,
    fix="Leave the range out.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for _, egress, i, network in egress_ranges(platform):
        if network.overlaps(LINK_LOCAL):
            message = f"egress `{egress.name}` leads to {network}, which has link-local addresses"
            yield RULE.at(egress.at / "to" / i, message)


CHECK = Check(RULE, find)
