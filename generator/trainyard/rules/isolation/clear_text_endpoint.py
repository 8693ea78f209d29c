"""Find stores that are reached over http."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/clear-text-endpoint",
    severity=Severity.WARNING,
    summary="Object stores are reached over https.",
    why="""
        Datasets and checkpoints pass in the clear, and whoever stands between may exchange a model
        for another.
    """,
    fix="Use the store's https address.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for storage in site.cluster.storage:
            if storage.endpoint.startswith("http://"):
                message = f"storage `{storage.name}` is reached at {storage.endpoint}, in the clear"
                yield RULE.at(storage.at / "s3" / "endpoint", message)


CHECK = Check(RULE, find)
