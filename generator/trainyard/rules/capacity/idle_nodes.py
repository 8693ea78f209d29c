"""Find pools of which teams own less than is promised."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_nodes
from trainyard.rules._check import Check
from trainyard.rules._iterate import shares
from trainyard.rules.capacity._shared import owned_nodes

RULE = Rule(
    id="capacity/idle-nodes",
    severity=Severity.WARNING,
    summary="Every node that a pool promises is owned by some team.",
    why="""
        Kueue lends what a team owns and nothing else: beside nodes that nobody owns a job waits,
        `insufficient unused quota for <resource> in flavor <pool>` (seen with Kueue 0.19.2).
    """,
    fix="Give the nodes to a team that lends them, or keep them in the pool's `reserve`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = shares(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if owned < pool.promised:
                idle = pool.promised - owned
                what = format_nodes(idle, pool.hardware.gpus)
                message = (
                    f"nobody owns {what} of the {pool.promised} that pool `{pool.name}` promises"
                )
                yield RULE.at(pool.at / "nodes", message)


CHECK = Check(RULE, find, every=("teams/", "quota"))
