"""Find addresses without encryption."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="delivery/clear-text-address",
    severity=Severity.ERROR,
    summary="Argo CD reaches the repository and every cluster over an encrypted connection.",
    why="""
        Whoever stands between may put objects of his own into what Argo CD applies with its rights,
        or take the token that it applies them with.
    """,
    fix="Write the https address, or ssh for the repository.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    settings = platform.settings
    addresses: list[tuple[str, Pointer]] = [(settings.repository, settings.at / "repository")]
    addresses += [(site.cluster.server, site.cluster.at / "server") for site in platform.sites]
    for address, at in addresses:
        if address.startswith("http://"):
            yield RULE.at(at, f"Argo CD would speak to {address} in the clear")


CHECK = Check(RULE, find)
