"""Find topologies that list the host as a level."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.topology import HOSTNAME
from trainyard.rules._check import Check
from trainyard.rules._iterate import levels

RULE = Rule(
    id="scheduling/hostname-as-level",
    severity=Severity.ERROR,
    summary="The levels of a topology are above the host, which is not listed.",
    why="""
        The API server refuses the Topology, because Trainyard adds the host as the lowest level and
        a second one is a duplicate: `spec.levels: Invalid value: must be unique` (seen with Kueue
        0.19.2).
    """,
    fix="Remove kubernetes.io/hostname from `levels`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for topology, i, level in levels(platform):
        if level == HOSTNAME:
            message = f"topology `{topology.name}` lists {HOSTNAME} as a level"
            yield RULE.at(topology.at / "levels" / i, message)


CHECK = Check(RULE, find)
