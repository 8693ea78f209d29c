"""Roles in the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.cluster import Cluster


def cluster_roles(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Yield each role in the whole cluster with a group that has it."""
    for group in cluster.operators:
        yield "operator", group
    for group in cluster.auditors:
        yield "auditor", group
