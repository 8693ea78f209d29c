"""Find hardware of a pool without a taint."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/no-taint",
    severity=Severity.WARNING,
    summary="Nodes of a pool have a taint.",
    why="""
        Pods outside the queue run on these nodes and use cpu and memory that quota has promised: an
        admitted job then waits for room, and a pod of higher priority ends its ranks. A job without
        a queue starts at once and bypasses its quota (seen with Kueue 0.19.2).
    """,
    fix="""
        Taint the nodes, and set the taint's key here, e.g. `taint: nvidia.com/gpu`; for nodes
        without GPUs a key of your own domain.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        if not node_type.taint:
            gpus = f"{counted(node_type.gpus, 'GPU')} and " if node_type.gpu else ""
            yield RULE.at(node_type.at / "taint", f"a `{node_type.name}` has {gpus}no taint")


CHECK = Check(RULE, find)
