"""Find `ranks` in runtimes whose launcher does not take them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/ranks-of-torchrun",
    severity=Severity.ERROR,
    summary="Only a runtime of an MPI launcher states `ranks`.",
    why="""
        Trainer takes the ranks of a torchrun job from the job alone; where that leaves them open it
        starts one a GPU, or one a cpu
        (kubeflow/trainer:pkg/runtime/framework/plugins/torch/torch.go@v2.2.1). The runtime's number
        would change nothing.
    """,
    fix="Remove `ranks`, and state `numProcPerNode` in the jobs.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        if runtime.ranks and not runtime.launcher.mpi:
            message = (
                f"runtime `{runtime.name}` states `ranks`, and its launcher is "
                f"{runtime.launcher.name}"
            )
            notes = [Note("its launcher", runtime.at / "launcher")]
            yield RULE.at(runtime.at / "ranks", message, notes=notes)


CHECK = Check(RULE, find)
