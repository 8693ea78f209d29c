"""Find the node among a fabric's levels."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.fabric import HOSTNAME
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/hostname-as-level",
    severity=Severity.ERROR,
    summary="The levels of a fabric are switches; the node itself is not listed.",
    why="""
        Trainyard adds the node as the lowest level, and the API server refuses a Topology that
        names it twice: `spec.levels: Invalid value: must be unique` (seen with Kueue 0.19.2).
    """,
    fix="Remove kubernetes.io/hostname from `levels`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            for i, level in enumerate(fabric.levels):
                if level == HOSTNAME:
                    message = f"fabric `{fabric.name}` lists {HOSTNAME} as a level"
                    yield RULE.at(fabric.at / "levels" / i, message)


CHECK = Check(RULE, find)
