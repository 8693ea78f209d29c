"""Find out which MPI a script uses."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainyard.model.launcher import INTEL_MPI, OPENMPI
from trainyard_jobs.convert.slurm.script import Script
from trainyard_jobs.convert.slurm.start import Start

_INTEL = re.compile(r"impi|intel-?mpi|oneapi/mpi|intel-oneapi-mpi")


def launcher_of(lines: Iterable[str], script: Script, start: Start) -> str:
    """Return the launcher of the MPI that a script uses."""
    program = start.words[0].text.rpartition("/")[2] if start.words else ""
    if program == "mpiexec.hydra" or any(name.startswith("I_MPI_") for name in script.env):
        return INTEL_MPI.name
    for line in lines:
        if line.lstrip().startswith(("module", "ml ")) and _INTEL.search(line):
            return INTEL_MPI.name
    return OPENMPI.name
