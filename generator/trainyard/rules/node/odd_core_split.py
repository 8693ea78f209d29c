"""Find bound ranks that leave cores unused or that span two NUMA nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules.node._shared import bound

RULE = Rule(
    id="node/odd-core-split",
    severity=Severity.WARNING,
    summary="""
        The cores that a node gives to a job divide evenly among its ranks, and each rank is on one
        NUMA node.
    """,
    why="""
        The remaining cores are never used, because each rank is bound to whole cores: data loaders
        wait while cores idle. A rank that spans two NUMA nodes reaches part of its memory through
        the other socket, and its GPU and rail from the wrong side; the other ranks wait for it.
        kubelet keeps its own share on the first NUMA node, and divides a job's cores evenly only if
        every NUMA node has that many left.
    """,
    fix="""
        Change the hardware's `system.cpu` or the runtime's `ranks` so that no core is left over, or
        set `binding: none`. Where ranks span NUMA nodes, lower `kubelet.cpu` to at most
        `system.cpu` divided by the number of NUMA nodes.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime, each in bound(platform):
        ranks = runtime.ranks or each.gpus or 1
        share, rest = divmod(each.rank_cores, ranks)
        if not share:
            continue
        message = (
            f"runtime `{runtime.name}` binds each of {counted(ranks, 'rank')} to {share} of the "
            f"{counted(each.rank_cores, 'core')} of a `{each.name}`"
        )
        if rest:
            message += f", which leaves {rest} unused"
            notes = [Note("the cpu of the system share", each.stated("system", "cpu"))]
            yield RULE.at(runtime.at / "binding", message, notes=notes)
        elif ranks >= each.core_nodes and _spans_numa_nodes(each, share):
            message += f", and some ranks to two NUMA nodes: kubelet gives a job {_cores(each)}"
            notes = [Note("kubelet keeps this cpu on NUMA node 0", each.stated("kubelet", "cpu"))]
            yield RULE.at(runtime.at / "binding", message, notes=notes)


def _spans_numa_nodes(each: Hardware, share: int) -> bool:
    """Return whether some rank's share of the cores, taken in order, is on two NUMA nodes."""
    return any(end % share for end in accumulate(each.cores_by_numa))


def _cores(each: Hardware) -> str:
    parts = enumerate(each.cores_by_numa)
    return " and ".join(f"{cores} on NUMA node {node}" for node, cores in parts)


CHECK = Check(RULE, find)
