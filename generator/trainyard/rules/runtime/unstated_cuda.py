"""Find runtimes on GPUs that do not state their version of CUDA or ROCm."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.accelerator import MAKERS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

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
        makers = {each.maker for each in hardware_of(platform, runtime)} - {None}
        needed = sorted(each.platform for each in MAKERS if each in makers and not each.lacks)
        if needed and not any(each.library in runtime.libraries for each in MAKERS):
            message = (
                f"runtime `{runtime.name}` runs on GPUs and does not state its "
                f"{' or '.join(needed)} version"
            )
            yield RULE.at(runtime.at / "libraries", message)


CHECK = Check(RULE, find)
