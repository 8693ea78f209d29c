"""Which MPI an MPIJob uses."""

from __future__ import annotations

import re
from typing import Final

from trainyard.model.launcher import INTEL_MPI, OPENMPI
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.mpijob.fields import Fields

_FIELD: Final = ("spec", "mpiImplementation")
_OLD_FIELD: Final = ("spec", "mpiDistribution")
_OLD_NAMES: Final = {"intel_mpi": "Intel", "mpich": "MPICH", "open_mpi": "OpenMPI"}
"""Of v1alpha2 (kubeflow/mpi-operator:pkg/apis/kubeflow/v1alpha2/types.go@v0.3.0)."""
_INTEL_NAMES: Final = {_FIELD: "Intel", _OLD_FIELD: "intel_mpi"}
_INTEL = re.compile(r"intel-?mpi|(?<![a-z])(?:impi|oneapi|hpckit)(?![a-z])|pi:intel")
_MPICH = re.compile(r"mpich")


def implementation(fields: Fields, image: str, program: str) -> str:
    """Return the name of the launcher of an MPIJob, and note where it is a guess or none.

    Args:
        fields: of the job; without `mpiImplementation` the operator prepares it for Open MPI.
        image: of the ranks.
        program: first word of the launcher's command.
    """
    field = _OLD_FIELD if fields.peek(*_OLD_FIELD) else _FIELD
    written = fields.text(*field)
    stated = _OLD_NAMES.get(written, written)
    if stated == "Intel":
        return INTEL_MPI.name
    if stated not in {"", "OpenMPI"}:
        text = (
            "no runtime starts it: Intel MPI runs programs that were built with MPICH; write "
            f"`{field[1]}: {_INTEL_NAMES[field]}` if the image may have it"
        )
        fields.note(Kind.REFUSED, field, f"{field[1]} {written}", text)
    elif not stated and (program.endswith("mpiexec.hydra") or _INTEL.search(image)):
        text = "image or command name Intel MPI; write `mpiImplementation: OpenMPI` if it is not"
        fields.note(Kind.CHOOSE, _FIELD, "mpiImplementation", text)
        return INTEL_MPI.name
    elif _MPICH.search(image):
        text = "the image's name says MPICH: the ranks need Open MPI"
        fields.note(Kind.CHOOSE, _FIELD, "mpiImplementation", text)
    return OPENMPI.name
