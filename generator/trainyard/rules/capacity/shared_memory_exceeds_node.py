"""Compare each runtime with the memory of a whole node's pod."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="capacity/shared-memory-exceeds-node",
    severity=Severity.ERROR,
    summary="A runtime's shared memory is smaller than what a node of its hardware gives to a pod.",
    why="""
        Shared memory counts against the pod's memory limit: ranks that fill it are OOMKilled, and
        the job with them.
    """,
    fix="Lower `sharedMemory`; a quarter of the node's memory is plenty for NCCL and data loaders.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        for each in hardware(platform):
            memory = each.total.memory - each.system.memory
            if each.name in runtime.hardware and 0 < memory <= runtime.shared_memory:
                message = (
                    f"{format_bytes(runtime.shared_memory)} of shared memory leave nothing"
                    f" of the {format_bytes(memory)} that a pod has on a `{each.name}`"
                )
                notes = [Note("the node's memory less the system's share", each.stated("memory"))]
                yield RULE.at(runtime.at / "sharedMemory", message, notes=notes)


CHECK = Check(RULE, find)
