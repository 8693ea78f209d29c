"""Find runtimes whose CUDA can't be compared with what their GPUs need."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules import _iterate
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/unstated-cuda",
    severity=Severity.WARNING,
    summary="A runtime on GPUs states its CUDA.",
    why="""
        Nothing compares it with what the GPUs need: a CUDA that is too old starts, and its first
        kernel fails with `no kernel image is available for execution on the device`.
    """,
    fix='Add it to `libraries`: {cuda: "12.6"}, as `nvcc --version` in the image says.',
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        kinds = [
            each
            for each in _iterate.hardware(platform)
            if each.gpu and each.name in runtime.hardware
        ]
        if kinds and "cuda" not in runtime.libraries:
            message = f"runtime `{runtime.name}` runs on GPUs and does not state its CUDA"
            yield RULE.at(runtime.at / "libraries", message)


CHECK = Check(RULE, find)
