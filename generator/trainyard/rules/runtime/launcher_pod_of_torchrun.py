"""Find `launcherPod: small` in runtimes that have no launcher."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/launcher-pod-of-torchrun",
    severity=Severity.ERROR,
    summary="Only a runtime with an MPI launcher sets `launcherPod: small`.",
    why="""
        No job has such a pod: torchrun runs in each node, and Trainer creates no launcher. The
        ranks would get less than their node has.
    """,
    fix="Remove `launcherPod`, or set `launcher` to that of the image's MPI.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        if runtime.small_launcher and not runtime.launcher.mpi:
            name = runtime.launcher.name
            message = f"runtime `{runtime.name}` has `launcherPod: small`, but starts with {name}"
            notes = [Note("the runtime's launcher", runtime.at / "launcher")]
            yield RULE.at(runtime.at / "launcherPod", message, notes=notes)


CHECK = Check(RULE, find)
