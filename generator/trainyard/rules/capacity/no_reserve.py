"""Find pools without a reserve whose nodes are all owned, unless the pool has only one node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ownership import owned_nodes, owners_of
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/no-reserve",
    severity=Severity.WARNING,
    summary="A pool does not give all its nodes to teams; it keeps some in reserve.",
    why="""
        When one node fails, quota exceeds the hardware. On a fabric, the whole job on that node is
        evicted, `as there was no replacement for unhealthy node(s): <node>` (seen with Kueue
        0.19.2). Without a fabric, Kueue continues to admit jobs, and the largest ones wait for the
        missing node while they hold the others.
    """,
    fix="""
        Set `reserve` of the pool to at least 1, and lower the `nodes` of teams by the same number.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = owners_of(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if not pool.reserve and owned == pool.nodes > 1:
                message = (
                    f"teams own all {pool.nodes} nodes of pool `{pool.name}`: no reserve is left"
                )
                yield RULE.at(pool.at / "reserve", message)


CHECK = Check(RULE, find, every=("teams/", "quota"))
