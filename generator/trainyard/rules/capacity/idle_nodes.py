"""Find pools of which teams own fewer nodes than the pool promises."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ownership import owned_nodes, owners_of
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_nodes
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/idle-nodes",
    severity=Severity.WARNING,
    summary="Every promised node of a pool belongs to a team.",
    why="""
        Jobs wait while the nodes are idle, `insufficient unused quota for <resource> in flavor
        <pool>` (seen with Kueue 0.19.2): Kueue lends only what a team owns.
    """,
    fix="Add the nodes to `nodes` of a team that lends them, or to the pool's `reserve`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = owners_of(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if owned < pool.promised:
                idle = format_nodes(pool.promised - owned, pool.hardware.gpus)
                message = (
                    f"no team owns {idle} of the {pool.promised} that pool `{pool.name}` promises"
                )
                yield RULE.at(pool.at / "nodes", message)


CHECK = Check(RULE, find, every=("teams/", "quota"))
