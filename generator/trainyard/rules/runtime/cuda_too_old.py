"""Compare each runtime's CUDA version with what the GPUs of its hardware need."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.version import numbers
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

RULE = Rule(
    id="runtime/cuda-too-old",
    severity=Severity.ERROR,
    summary="A runtime's CUDA version supports the GPUs of its hardware.",
    why="""
        The job starts and its first kernel fails: `no kernel image is available for execution on
        the device`.
    """,
    fix="Build the image with a newer CUDA version, or remove the hardware from the runtime.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        cuda = runtime.libraries.get("cuda")
        if not cuda:
            continue
        for node_type in hardware_of(platform, runtime):
            needed = node_type.gpu.minimum_cuda if node_type.gpu else ""
            if needed and numbers(cuda) < numbers(needed):
                message = (
                    f"CUDA {cuda} does not support the GPUs of a `{node_type.name}`, which need "
                    f"{needed}"
                )
                notes = [Note("the GPUs", node_type.stated("gpu", "product"))]
                yield RULE.at(runtime.at / "libraries" / "cuda", message, notes=notes)


CHECK = Check(RULE, find)
