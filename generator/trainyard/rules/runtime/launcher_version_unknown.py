"""Find runtimes whose launcher's library is not among the libraries."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/launcher-version-unknown",
    severity=Severity.ERROR,
    summary="A runtime states the version of what starts its ranks.",
    why="""
        Open MPI 5 ignores the variables of 4 in silence, and 4 those of 5: with the wrong ones all
        ranks run on the launcher (seen with Open MPI 5.0.11: two ranks on one host, exit code 0, no
        message).
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
                f"runtime `{runtime.name}` is started by {runtime.launcher.name} and does "
                f"not state its `{library}`"
            )
            yield RULE.at(runtime.at / "libraries", message)


CHECK = Check(RULE, find)
