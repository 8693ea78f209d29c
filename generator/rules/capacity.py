"""Quota against the hardware that is really there."""

from __future__ import annotations

from collections.abc import Iterator

from generator.diagnostics import Diagnostic, Note, Rule, Severity
from generator.model.platform import Platform
from generator.rules._check import Check

OVERSUBSCRIBED = Rule(
    id="capacity/oversubscribed",
    severity=Severity.ERROR,
    summary="The teams of a cluster own no more nodes of a pool than the pool has, its reserve left aside.",
    why=(
        "Kueue does not look at nodes: it admits the gangs, some of their pods stay Pending for ever,"
        " and the GPUs of the others are held."
    ),
    fix="Lower a team's `nodes`, or raise the pool's.",
)


def oversubscribed(platform: Platform) -> Iterator[Diagnostic]:
    """Sum the nodes of every team on a pool; the finding stands at the pool and names each share."""
    for site in platform.sites:
        for pool in site.cluster.pools:
            quotas = [
                (tenant.name, flavor.quota)
                for tenant in site.tenants
                for queue in tenant.queues
                for flavor in queue.flavors
                if flavor.pool.name == pool.name
            ]
            owned = sum(quota.nodes for _, quota in quotas)
            if owned > pool.promised:
                message = (
                    f"teams own {owned} nodes of pool `{pool.name}`, which promises {pool.promised}"
                    f" ({pool.nodes} less {pool.reserve} in reserve)"
                )
                notes = [Note(f"team {name} owns {quota.nodes}", quota.at / "nodes") for name, quota in quotas]
                yield OVERSUBSCRIBED.at(pool.at / "nodes", message, notes=notes)


CHECKS = (Check(OVERSUBSCRIBED, oversubscribed),)
