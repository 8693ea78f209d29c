"""Sum the nodes of every team on a pool; the finding stands at the pool and names each share."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_nodes
from trainyard.rules._check import Check
from trainyard.rules._iterate import shares
from trainyard.rules.capacity._shared import owned_nodes

RULE = Rule(
    id="capacity/oversubscribed",
    severity=Severity.ERROR,
    summary="""
        The teams of a cluster own no more nodes of a pool than the pool has, its reserve left
        aside.
    """,
    why="""
        Without a fabric Kueue does not look at nodes: it admits the gangs, some of their pods stay
        Pending for ever, and the nodes of the others are held. With one their jobs wait beside
        quota that they have: `doesn't allow to fit any of 1 pod(s). Total nodes: <n>; excluded:
        resource "cpu": <n>` (seen with Kueue 0.19.2).
    """,
    fix="Lower a team's `nodes`, or raise the pool's.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = shares(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if owned > pool.promised:
                message = (
                    f"teams own {format_nodes(owned, pool.hardware.gpus)} of pool `{pool.name}`, "
                    f"which promises {pool.promised} ({pool.nodes} less {pool.reserve} in reserve)"
                )
                notes = [
                    Note(f"team {tenant.name} owns {quota.display(quota.nodes)}", quota.place)
                    for tenant, quota in owners[pool.name]
                ]
                yield RULE.at(pool.at / "nodes", message, notes=notes)


CHECK = Check(RULE, find)
