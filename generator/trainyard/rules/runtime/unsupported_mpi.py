"""Find MPI libraries that a runtime's launcher can't start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.launcher import LAUNCHERS
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.model.version import numbers
from trainyard.rules._check import Check

OTHER_MPIS = re.compile(r"impi\Z|intel-?(oneapi-)?mpi|mpich|mvapich")
"""Beginnings of the names of MPIs that no launcher starts, and other names of Intel MPI."""


RULE = Rule(
    id="runtime/unsupported-mpi",
    severity=Severity.ERROR,
    summary="""
        A runtime's MPI is the one that its launcher starts: Open MPI 4 or 5, or Intel MPI 2021.
    """,
    why="""
        Jobs fail at their start: Trainer writes its hostfile for Open MPI (`mpiImplementation`
        admits no other value, Trainer 2.1 to 2.3). MPICH and Intel MPI refuse it (`token slots not
        supported at this time`, seen with MPICH 4.0 and Intel MPI 2021), as does MVAPICH2, which
        has MPICH's mpiexec. They also ignore Open MPI's variables. Intel MPI has a launcher of its
        own; MPICH's failed with a good hostfile too (`BAD TERMINATION`).
    """,
    fix="""
        Build the image with Open MPI 4.1 or 5.0, or with Intel MPI 2021 and `launcher: intel-mpi`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        for library, version in runtime.libraries.items():
            at = runtime.at / "libraries" / library
            if library == runtime.launcher.library:
                yield from _other_version(runtime, version, at)
            else:
                yield from _other_library(runtime, library, at)


def _other_version(runtime: Runtime, version: str, at: Pointer) -> Iterator[Diagnostic]:
    """Yield a finding when the launcher's library has a major version that is not supported."""
    launcher = runtime.launcher
    if launcher.majors and numbers(version)[0] not in launcher.majors:
        known = " or ".join(map(str, launcher.majors))
        message = f"runtime `{runtime.name}` has {launcher.library} {version}, not {known}"
        yield RULE.at(at, message)


def _other_library(runtime: Runtime, library: str, at: Pointer) -> Iterator[Diagnostic]:
    """Yield a finding when a library is an MPI that another launcher starts, or none."""
    launchers = {launcher.library: launcher.name for launcher in LAUNCHERS.values() if launcher.mpi}
    if library in launchers:
        message = f"runtime `{runtime.name}` has {library}, but its launcher is "
        message += runtime.launcher.name
        hint = f"Set `launcher: {launchers[library]}`, or remove `{library}`."
        yield RULE.at(at.key(), message, hint=hint)
    elif OTHER_MPIS.match(library):
        message = f"runtime `{runtime.name}` has {library}, which no launcher can start"
        yield RULE.at(at.key(), message)


CHECK = Check(RULE, find)
