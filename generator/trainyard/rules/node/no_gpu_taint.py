"""Find GPU hardware without a taint."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/no-gpu-taint",
    severity=Severity.WARNING,
    summary="Nodes with GPUs have a taint.",
    why="""
        Pods outside the queue run on these nodes and use cpu and memory that quota has promised. A
        job without a queue starts at once and bypasses its quota (seen with Kueue 0.19.2).
    """,
    fix="Taint the nodes, and set the taint's key here, e.g. `taint: nvidia.com/gpu`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        if each.gpu and not each.taint:
            yield RULE.at(
                each.at / "taint", f"a `{each.name}` has {counted(each.gpus, 'GPU')} and no taint"
            )


CHECK = Check(RULE, find)
