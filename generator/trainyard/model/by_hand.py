"""Files of the tree that somebody puts into use by hand, since Argo CD does not."""

from __future__ import annotations

from typing import Final

from trainyard.model.pool import Pool

NODES_SYNCER: Final = "whoever starts the sync of `nodes/`"
"""Argo CD applies these files, once that is done; with ``nodes: {sync: automatic}`` by itself."""

_OWNERS: Final = {
    "argocd/health-customizations.yaml": "the owner of Argo CD",
    "argocd/resource-health-checks.yaml": "the owner of Argo CD",
    "monitoring/alertmanager-routes.yaml": "the owner of Alertmanager",
    "monitoring/job-states.yaml": "the owner of kube-state-metrics",
    "node-files/": "the owner of the nodes",
    "nodes/": NODES_SYNCER,
    "operators/audit-policy.yaml": "the owner of the API server",
    "operators/kueue-configuration.yaml": "the owner of Kueue",
    "operators/": "a cluster admin",
}
"""File, or begin of the path -> who puts it into use; the longest that fits is right."""


def owner_of(path: str) -> str:
    """Return who puts a file into use; empty for one that Argo CD applies, or that is only read.

    Args:
        path: below the cluster's folder.
    """
    if path.endswith("/kustomization.yaml"):
        return ""
    return _OWNERS.get(max(filter(path.startswith, _OWNERS), key=len, default=""), "")


def node_files(pool: Pool) -> tuple[str, ...]:
    """Return the files that the owner of a pool's nodes installs on each, sorted.

    They are below the cluster's folder, where its features have ``node-files``.
    """
    kubelet = f"node-files/{pool.name}-kubelet-configuration.yaml"
    return (kubelet, limits_file(pool)) if pool.fabric else (kubelet,)


def limits_file(pool: Pool) -> str:
    """Return the file that lifts the limit of locked memory on nodes with rails."""
    return f"node-files/{pool.name}-memlock.conf"
