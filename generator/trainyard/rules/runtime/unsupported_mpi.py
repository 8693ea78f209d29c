"""Look for other MPIs among the libraries, and at the version of the launcher's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.launcher import LAUNCHERS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._versions import numbers

OTHER_MPIS = re.compile(r"impi\Z|intel-?(oneapi-)?mpi|mpich|mvapich")
"""How names of MPIs begin that no launcher here starts, and other names of Intel's."""


RULE = Rule(
    id="runtime/unsupported-mpi",
    severity=Severity.ERROR,
    summary="""
        A runtime's MPI is the one that its launcher starts: Open MPI 4 or 5, or Intel MPI 2021.
    """,
    why="""
        Trainer writes its hostfile for Open MPI (`mpiImplementation` admits no other value, Trainer
        2.1 to 2.3): MPICH and Intel MPI refuse it (`token slots not supported at this time`, seen
        with MPICH 4.0 and Intel MPI 2021), as does MVAPICH2, which has MPICH's mpiexec; and Open
        MPI's variables mean nothing to them. For Intel MPI there is a launcher of its own; MPICH's
        failed with a good hostfile too (`BAD TERMINATION`).
    """,
    fix="""
        Build the image with Open MPI 4.1 or 5.0, or with Intel MPI 2021 and `launcher: intel-mpi`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    others = {each.library: each.name for each in LAUNCHERS.values() if each.mpi}
    for runtime in platform.runtimes:
        launcher = runtime.launcher
        for library, version in runtime.libraries.items():
            at = runtime.at / "libraries" / library
            if library not in others and OTHER_MPIS.match(library):
                yield RULE.at(
                    at.key(), f"runtime `{runtime.name}` brings {library}, which nothing can launch"
                )
            elif library != launcher.library and library in others:
                message = (
                    f"runtime `{runtime.name}` brings {library}, but its launcher is "
                    f"{launcher.name}"
                )
                yield RULE.at(
                    at.key(), message, hint=f"say `launcher: {others[library]}`, or remove it"
                )
            elif (
                library == launcher.library
                and launcher.majors
                and numbers(version)[0] not in launcher.majors
            ):
                known = " or ".join(map(str, launcher.majors))
                yield RULE.at(at, f"runtime `{runtime.name}` has {library} {version}, not {known}")


CHECK = Check(RULE, find)
