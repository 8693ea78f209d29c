"""Find runtimes on GPUs that do not state their version of CUDA or ROCm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.accelerator import MAKERS
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

_LIBRARIES = frozenset(each.library for each in MAKERS)

RULE = Rule(
    id="runtime/unstated-cuda",
    severity=Severity.WARNING,
    summary="A runtime on GPUs states its version of CUDA, or of ROCm where they are of AMD.",
    why="""
        An image of another maker, or a CUDA version that is too old, is not detected: the job
        starts, and its first kernel fails with `no kernel image is available for execution on the
        device`.
    """,
    fix="""
        Add the version that `nvcc --version` prints in the image to `libraries`, e.g. {cuda:
        "12.6"}; of ROCm that of `/opt/rocm/.info/version`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        needed = _needed(hardware_of(platform, runtime))
        if needed and runtime.libraries.keys().isdisjoint(_LIBRARIES):
            message = (
                f"runtime `{runtime.name}` runs on GPUs and does not state its "
                f"{' or '.join(needed)} version"
            )
            yield RULE.at(runtime.at / "libraries", message)


def _needed(nodes: Sequence[Hardware]) -> list[str]:
    """Return what images are built for on the GPUs of nodes; another rule refuses the others."""
    makers = {node_type.maker for node_type in nodes}
    return [each.platform for each in MAKERS if each in makers and not each.lacks]


CHECK = Check(RULE, find)
