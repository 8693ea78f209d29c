"""Find addresses that Argo CD would connect to without encryption."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="delivery/clear-text-address",
    severity=Severity.ERROR,
    summary="Argo CD connects to the repository and to every cluster with encryption.",
    why="""
        An attacker on the network can add objects to those that Argo CD applies with its rights, or
        steal the token that it applies them with.
    """,
    fix="Use the https address; for the repository, ssh works too.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    settings = platform.settings
    addresses: list[tuple[str, Pointer]] = [(settings.repository, settings.at / "repository")]
    addresses += [(site.cluster.server, site.cluster.at / "server") for site in platform.sites]
    for address, at in addresses:
        if address.startswith("http://"):
            yield RULE.at(at, f"Argo CD would connect to {address} without encryption")


CHECK = Check(RULE, find)
