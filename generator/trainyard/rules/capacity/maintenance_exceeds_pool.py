"""Compare the number of nodes in maintenance with the nodes of their pool."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/maintenance-exceeds-pool",
    severity=Severity.ERROR,
    summary="No more nodes of a pool are in maintenance than it has.",
    why="""
        Some of the names belong to no node of the pool. The quota of the pool is 0 while nodes of
        it may still be in use.
    """,
    fix="""
        Remove the names of nodes that are not of this pool, or correct `nodes` of the pool. The
        cluster's README has the command that lists the nodes of each pool.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if (out := len(pool.out_of_use)) > pool.nodes:
                message = (
                    f"{counted(out, 'node')} of pool `{pool.name}` are in maintenance, and the "
                    f"pool has {pool.nodes}"
                )
                yield RULE.at(pool.maintenance[-1].at / "nodes", message)


CHECK = Check(RULE, find)
