"""Find nodes that several maintenances of a cluster list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/node-maintained-twice",
    severity=Severity.ERROR,
    summary="A node is in one maintenance of its cluster at most.",
    why="""
        In two pools, one node lowers the quota of both. In one pool, it stays out of use when the
        first maintenance ends, and nobody expects that.
    """,
    fix="Keep the node in one of them: that of its own pool, or the one that ends later.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for node, places in _places(site.cluster).items():
            for pool, place in places[1:]:
                message = f"node {node} of pool `{pool}` is already in maintenance"
                notes = [Note(f"the other, in pool `{places[0][0]}`", places[0][1])]
                yield RULE.at(place, message, notes=notes)


def _places(cluster: Cluster) -> dict[str, list[tuple[str, Pointer]]]:
    """Return each node in maintenance with its pool and place, as often as it is listed."""
    places: dict[str, list[tuple[str, Pointer]]] = defaultdict(list)
    for pool in cluster.pools:
        for maintenance in pool.maintenance:
            for i, node in enumerate(maintenance.nodes):
                places[node].append((pool.name, maintenance.at / "nodes" / i))
    return dict(places)


CHECK = Check(RULE, find)
