"""Find clusters without priority classes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/no-priorities",
    severity=Severity.WARNING,
    summary="A cluster has priorities.",
    why="""
        An urgent job waits behind every batch job, and the newest job is evicted first (seen with
        Kueue 0.19.2): all jobs of a team are equal.
    """,
    fix="Add `priorities`, e.g. `{production: 1000, batch: 500}`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        if not site.cluster.priorities:
            yield RULE.at(site.cluster.at / "priorities", f"cluster {site.name} has no priorities")


CHECK = Check(RULE, find)
