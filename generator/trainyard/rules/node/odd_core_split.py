"""Find whole nodes whose cores leave a rest when each rank has its share, or whose ranks lie on two NUMA nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules.node._shared import bound

RULE = Rule(
    id="node/odd-core-split",
    severity=Severity.WARNING,
    summary="""
        The cores that a node gives to a job are divided evenly among its ranks, each on one NUMA
        node.
    """,
    why="""
        Each rank is bound to whole cores, so the rest is never used: data loaders wait while cores
        idle. A rank on two NUMA nodes reaches a part of its memory through the other socket, and
        its GPU and rail from the wrong side; the other ranks wait for it. kubelet keeps its own
        share on the first NUMA node, and divides a job's cores evenly only if every NUMA node has
        that many left.
    """,
    fix="""
        Set the system's cpu, or the runtime's `ranks`, so that nothing is left over, or `binding:
        none`. Lower the kubelet's cpu to the system's cpu divided by the NUMA nodes, or less.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime, each in bound(platform):
        ranks = runtime.ranks or each.gpus or 1
        share, rest = divmod(each.promised_cores, ranks)
        binds = f"runtime `{runtime.name}` binds each of {counted(ranks, 'rank')} to {share} of the"
        binds += f" {counted(each.promised_cores, 'core')} of a `{each.name}`"
        if share and rest:
            notes = [Note("what the system keeps", each.stated("system", "cpu"))]
            yield RULE.at(runtime.at / "binding", f"{binds}, which leaves {rest} over", notes=notes)
        elif (
            share
            and ranks >= each.numa_nodes
            and any(end % share for end in accumulate(each.cores_by_numa))
        ):
            told = " and ".join(
                f"{cores} on NUMA node {node}" for node, cores in enumerate(each.cores_by_numa)
            )
            message = f"{binds}, and some to two NUMA nodes: kubelet gives a job {told}"
            notes = [Note("what the kubelet keeps on NUMA node 0", each.stated("kubelet", "cpu"))]
            yield RULE.at(runtime.at / "binding", message, notes=notes)


CHECK = Check(RULE, find)
