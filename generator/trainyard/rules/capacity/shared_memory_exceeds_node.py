"""Compare the shared memory of each runtime with the memory of a pod that has a whole node."""

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
    summary="A runtime's `sharedMemory` is smaller than the memory of a pod on its hardware.",
    why="""
        Ranks that fill the shared memory are OOMKilled, and the job fails with them: shared memory
        counts against the pod's memory limit.
    """,
    fix="Lower `sharedMemory`; a quarter of the node's memory is enough for NCCL and data loaders.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        for node_type in hardware(platform):
            memory = node_type.total.memory - node_type.system.memory
            if node_type.name in runtime.hardware and 0 < memory <= runtime.shared_memory:
                message = (
                    f"`sharedMemory` of {format_bytes(runtime.shared_memory)} leaves nothing of "
                    f"the {format_bytes(memory)} that a pod has on a `{node_type.name}`"
                )
                notes = [
                    Note("the node's memory less the share in `system`", node_type.stated("memory"))
                ]
                yield RULE.at(runtime.at / "sharedMemory", message, notes=notes)


CHECK = Check(RULE, find)
