"""Find object stores with an http endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/clear-text-endpoint",
    severity=Severity.WARNING,
    summary="The endpoint of an object store uses https.",
    why="""
        Datasets and checkpoints are sent unencrypted, and an attacker on the network can replace a
        model.
    """,
    fix="Set `endpoint` to the store's https address.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for storage in site.cluster.storage:
            if storage.endpoint.startswith("http://"):
                message = (
                    f"storage `{storage.name}` has an unencrypted endpoint, {storage.endpoint}"
                )
                yield RULE.at(storage.at / "s3" / "endpoint", message)


CHECK = Check(RULE, find)
