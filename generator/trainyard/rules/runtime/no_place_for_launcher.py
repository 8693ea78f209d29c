"""Find runtimes with a small launcher on hardware that keeps nothing for it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

RULE = Rule(
    id="runtime/no-place-for-launcher",
    severity=Severity.ERROR,
    summary="Hardware of a runtime with `launcherPod: small` has `launcher`.",
    why="""
        The launcher requests no cpu and no memory, so no node keeps any for it. It takes both from
        ranks beside it, and is the first that the kernel ends when memory is short.
    """,
    fix="""
        Set `launcher: {cores: 1, memory: 4Gi}` in the hardware's profile, and lower its `system` by
        as much. Or remove `launcherPod: small`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        if not (runtime.small_launcher and runtime.launcher.mpi):
            continue
        for node_type in hardware_of(platform, runtime):
            if not node_type.launcher.cpu:
                message = (
                    f"runtime `{runtime.name}` has `launcherPod: small`, and hardware "
                    f"`{node_type.name}` keeps nothing for it"
                )
                notes = [Note(f"hardware `{node_type.name}`", node_type.at)]
                yield RULE.at(runtime.at / "launcherPod", message, notes=notes)


CHECK = Check(RULE, find)
