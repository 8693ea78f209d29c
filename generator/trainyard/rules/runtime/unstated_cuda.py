"""Find runtimes on GPUs that do not state their CUDA version."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

RULE = Rule(
    id="runtime/unstated-cuda",
    severity=Severity.WARNING,
    summary="A runtime on GPUs states its CUDA version.",
    why="""
        A CUDA version that is too old is not detected: the job starts, and its first kernel fails
        with `no kernel image is available for execution on the device`.
    """,
    fix="""
        Add the version that `nvcc --version` prints in the image to `libraries`, e.g. {cuda:
        "12.6"}.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        if "cuda" in runtime.libraries:
            continue
        if any(node_type.gpu for node_type in hardware_of(platform, runtime)):
            message = f"runtime `{runtime.name}` runs on GPUs and does not state its CUDA version"
            yield RULE.at(runtime.at / "libraries", message)


CHECK = Check(RULE, find)
