"""Find topologies with levels by which no pool is placed."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.model.topology import Topology
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/unused-topology",
    severity=Severity.WARNING,
    summary="At least one pool is placed by each topology that a profile states.",
    why="""
        Its levels have no effect: Kueue spreads the jobs of the intended pool over switches and
        racks by chance, and nothing shows it but their speed.
    """,
    fix="Set `topology` of the pools whose nodes carry its labels, or remove it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        used = {pool.topology.name for pool in site.cluster.pools if pool.topology}
        for topology in site.cluster.topologies:
            if topology.name not in used and _is_stated(topology, site.cluster):
                message = f"no pool is placed by topology `{topology.name}`"
                yield RULE.at(topology.at.key(), message)


def _is_stated(topology: Topology, cluster: Cluster) -> bool:
    """Return whether a profile states it; `fabric/unused-fabric` reports a fabric without pools."""
    for fabric in cluster.fabrics:
        if fabric.at == topology.at:
            return bool(topology.levels and cluster.pools_on(fabric))
    return True


CHECK = Check(RULE, find, every=("pools", "fabrics"))
