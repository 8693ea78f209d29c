"""Find fabrics that no pool is on."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/unused-fabric",
    severity=Severity.WARNING,
    summary="At least one pool is on each fabric.",
    why="""
        No pod gets a network of it. Its ranges are taken for nothing, and its owner is asked for
        partitions or VLANs that nobody uses.
    """,
    fix="Set `fabric` of the pools that are plugged into it, or remove it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            if not site.cluster.pools_on(fabric):
                yield RULE.at(fabric.at.key(), f"no pool is on fabric `{fabric.name}`")


CHECK = Check(RULE, find, every=("pools",))
