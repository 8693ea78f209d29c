"""Find runtimes that do not state the version of their launcher."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/launcher-version-unknown",
    severity=Severity.ERROR,
    summary="A runtime states the version of its launcher in `libraries`.",
    why="""
        All ranks may run on the launcher: Open MPI 5 silently ignores the variables of 4, and 4
        those of 5 (seen with Open MPI 5.0.11: two ranks on one host, exit code 0, no message).
    """,
    fix="""
        Add it to `libraries`, e.g. {openmpi: "5.0.6"}, {intel-mpi: "2021.13"} or {torch: "2.6.0"}.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        library = runtime.launcher.library
        if library not in runtime.libraries:
            message = (
                f"runtime `{runtime.name}` has the launcher {runtime.launcher.name} and does not "
                f"state the version of `{library}`"
            )
            yield RULE.at(runtime.at / "libraries", message)


CHECK = Check(RULE, find)
