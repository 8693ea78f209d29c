"""Find pools of trays whose NVLink between nodes no job uses."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="node/unused-nvlink",
    severity=Severity.WARNING,
    summary="A pool has no nodes whose GPUs are connected by NVLink with those of other nodes.",
    why="""
        Ranks on several nodes use the rails, or sockets without a fabric, and never NVLink, which
        the rack was bought for. A pod reaches the GPUs of another tray by a claim of a
        ComputeDomain only, and Trainer drops the claims of a job that sets `resourcesPerNode`.
    """,
    fix="""
        Plan with the rate of the rails between nodes, and waive this. Within a node NVLink is used.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    pools = (pool for site in platform.sites for pool in site.cluster.pools)
    for pool in pools:
        product = pool.hardware.product
        if product and product.nvlink_nodes > 1 and pool.nodes > 1:
            message = (
                f"NVLink connects {product.nvlink_nodes} nodes of a `{pool.hardware.name}`, and no "
                f"job on pool `{pool.name}` uses it between nodes"
            )
            yield RULE.at(pool.at, message)


CHECK = Check(RULE, find)
