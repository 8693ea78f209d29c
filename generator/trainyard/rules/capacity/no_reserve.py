"""Find pools that are owned to the last node; a pool of one node has none to keep in reserve."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import shares
from trainyard.rules.capacity._shared import owned_nodes

RULE = Rule(
    id="capacity/no-reserve",
    severity=Severity.WARNING,
    summary="A pool whose every node is owned keeps some in reserve.",
    why="""
        When one node fails, quota is larger than the hardware: on a fabric the whole job on it is
        evicted, `as there was no replacement for unhealthy node(s): <node>` (seen with Kueue
        0.19.2); without one Kueue goes on to admit, and the largest gangs wait for a node that is
        not there while they hold the others.
    """,
    fix="Give the pool a `reserve` of at least one node, and the teams that much less.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = shares(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if not pool.reserve and owned == pool.nodes > 1:
                message = (
                    f"teams own all {pool.nodes} nodes of pool `{pool.name}`, and none is in "
                    "reserve"
                )
                yield RULE.at(pool.at / "reserve", message)


CHECK = Check(RULE, find, every=("teams/", "quota"))
