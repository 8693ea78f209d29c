"""Compare each runtime's CUDA or ROCm with what the GPUs of its hardware need."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.accelerator import MAKERS
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.model.version import numbers
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

RULE = Rule(
    id="runtime/cuda-too-old",
    severity=Severity.ERROR,
    summary="""
        A runtime's CUDA version supports the GPUs of its hardware; those of AMD need ROCm.
    """,
    why="""
        The job starts and its first kernel fails: `no kernel image is available for execution on
        the device`.
    """,
    fix="""
        Build the image with a newer CUDA version, or for the other maker's GPUs in a runtime of its
        own; or remove the hardware from the runtime.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        for node_type in hardware_of(platform, runtime):
            for library, needed in _needed(runtime, node_type):
                message = (
                    f"{library} {runtime.libraries[library.lower()]} does not support the GPUs of "
                    f"a `{node_type.name}`, which need {needed}"
                )
                notes = [Note("the GPUs", node_type.stated("gpu", "product"))]
                yield RULE.at(runtime.at / "libraries" / library.lower(), message, notes=notes)


def _needed(runtime: Runtime, node_type: Hardware) -> Iterator[tuple[str, str]]:
    """Yield each stated platform that does not support the GPUs of nodes, and what they need."""
    gpu, maker = node_type.gpu, node_type.maker
    if gpu is None or maker is None or maker.lacks:
        return
    own = runtime.libraries.get(maker.library)
    if own is None:
        yield from ((other, maker.platform) for other in _platforms(runtime))
    elif gpu.minimum_cuda and numbers(own) < numbers(gpu.minimum_cuda):
        yield maker.platform, gpu.minimum_cuda


def _platforms(runtime: Runtime) -> list[str]:
    """Return what a runtime's image is built for."""
    return [maker.platform for maker in MAKERS if maker.library in runtime.libraries]


CHECK = Check(RULE, find)
