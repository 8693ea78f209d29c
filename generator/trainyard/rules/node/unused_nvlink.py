"""Find pools of trays whose NVLink between nodes no job uses."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.nvlink import CLIQUE, FEATURE
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="node/unused-nvlink",
    severity=Severity.WARNING,
    summary="A pool has no nodes whose GPUs are connected by NVLink with those of other nodes.",
    why="""
        Ranks on several nodes use the rails, or sockets without a fabric, and never NVLink, which
        the rack was bought for. A pod reaches the GPUs of another tray by a claim of a
        ComputeDomain only.
    """,
    fix="""
        Set `nvlink: true` on the pool, if the release's Kueue counts claims. Else plan with the
        rate of the rails between nodes, and waive this. Within a node NVLink is used.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    pools = ((site.cluster, pool) for site in platform.sites for pool in site.cluster.pools)
    for cluster, pool in pools:
        product = pool.hardware.product
        if product and product.nvlink_nodes > 1 and pool.nodes > 1 and not pool.has_nvlink:
            message = (
                f"NVLink connects {product.nvlink_nodes} nodes of a `{pool.hardware.name}`, and no "
                f"job on pool `{pool.name}` uses it between nodes"
            )
            yield RULE.at(pool.at, message, hint=_hint(cluster))


def _hint(cluster: Cluster) -> str:
    """Return what to do on a cluster, by what its release can."""
    if FEATURE in cluster.release.features:
        return (
            f"Set `nvlink: true` on the pool, with `{CLIQUE}` as the lowest level of its topology."
        )
    return (
        f"Kueue {cluster.release.versions['kueue']} counts no claims: plan with the rate of the "
        "rails between nodes, and waive this. Within a node NVLink is used."
    )


CHECK = Check(RULE, find)
