"""Find `ranks` in runtimes whose launcher ignores them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/ranks-of-torchrun",
    severity=Severity.ERROR,
    summary="Only a runtime with an MPI launcher sets `ranks`.",
    why="""
        The number has no effect: Trainer takes the ranks of a torchrun job from the job alone.
        Where the job leaves them open, Trainer starts one per GPU, or one per cpu
        (kubeflow/trainer:pkg/runtime/framework/plugins/torch/torch.go@v2.2.1).
    """,
    fix="Remove `ranks`, and set `numProcPerNode` in the jobs.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        if runtime.ranks and not runtime.launcher.mpi:
            launcher = runtime.launcher.name
            message = f"runtime `{runtime.name}` sets `ranks`, but its launcher is {launcher}"
            notes = [Note("the runtime's launcher", runtime.at / "launcher")]
            yield RULE.at(runtime.at / "ranks", message, notes=notes)


CHECK = Check(RULE, find)
