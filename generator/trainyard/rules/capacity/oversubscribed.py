"""Compare the sum of all teams' nodes on a pool with what the pool promises."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.ownership import owned_nodes, owners_of
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/oversubscribed",
    severity=Severity.ERROR,
    summary="""
        The teams of a cluster own no more nodes of a pool than the pool promises: its nodes less
        its reserve.
    """,
    why="""
        Without a fabric, some pods stay Pending permanently, and the other pods of their jobs hold
        their nodes: Kueue admits jobs without looking at nodes. On a fabric, jobs wait although
        their teams have free quota: `doesn't allow to fit any of 1 pod(s). Total nodes: <n>;
        excluded: resource "cpu": <n>` (seen with Kueue 0.19.2).
    """,
    fix="Lower a team's quota or the pool's `reserve`, or raise `nodes` of the pool.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = owners_of(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if owned > pool.promised:
                message = (
                    f"teams own {pool.display(owned)} of pool `{pool.name}`, "
                    f"which promises {pool.promised} ({pool.nodes} less {pool.reserve} in reserve)"
                )
                notes = [
                    Note(f"team {tenant.name} owns {quota.display(quota.nodes)}", quota.place)
                    for tenant, quota in owners[pool.name]
                ]
                yield RULE.at(pool.at / "nodes", message, notes=notes)


CHECK = Check(RULE, find)
