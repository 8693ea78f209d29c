"""Find clusters that have the same API server."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.cluster import OWN_SERVER, Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="delivery/server-of-two-clusters",
    severity=Severity.ERROR,
    summary="No two clusters have the same API server.",
    why="""
        Each sync undoes the other cluster's sync of the same objects (seen with Kubernetes 1.36.3:
        the list of admitted namespaces, so jobs are refused by turns), and nodes are promised
        twice.
    """,
    fix="Correct `server` of one of the two clusters.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[str, Cluster] = {}
    for cluster in (site.cluster for site in platform.sites):
        server = cluster.server.rstrip("/").lower()
        first = known.setdefault(server, cluster)
        if first is not cluster and server != OWN_SERVER:
            message = (
                f"clusters {first.name} and {cluster.name} have the same `server`, {cluster.server}"
            )
            notes = [Note(f"cluster {first.name}", first.at / "server")]
            yield RULE.at(cluster.at / "server", message, notes=notes)


CHECK = Check(RULE, find)
