"""What becomes of the variables that a script sets."""

from __future__ import annotations

import re

from trainyard.model.variables import REFUSED
from trainyard_jobs.convert import options
from trainyard_jobs.convert.words import words

RENDEZVOUS = words(
    """
    LOCAL_RANK LOCAL_WORLD_SIZE MASTER MASTER_ADDR MASTER_PORT NNODES NODE_RANK RANK WORLD_SIZE
    RDZV_BACKEND RDZV_ENDPOINT RDZV_HOST RDZV_ID RDZV_PORT
    """
)
"""Variables that torchrun sets for its ranks or reads from what Trainer sets, and their names."""
RANK = words("SLURM_LOCALID SLURM_NODEID SLURM_PROCID")
"""Variables that differ from rank to rank."""
OF_RANK = {
    "openmpi": (
        "SLURM_PROCID=$OMPI_COMM_WORLD_RANK SLURM_LOCALID=$OMPI_COMM_WORLD_LOCAL_RANK "
        "SLURM_NTASKS=$OMPI_COMM_WORLD_SIZE "
        "SLURM_NODEID=$((OMPI_COMM_WORLD_RANK / OMPI_COMM_WORLD_LOCAL_SIZE))"
    ),
    "intel-mpi": (
        "SLURM_PROCID=$PMI_RANK SLURM_LOCALID=$MPI_LOCALRANKID SLURM_NTASKS=$PMI_SIZE "
        "SLURM_NODEID=$((PMI_RANK / MPI_LOCALNRANKS))"
    ),
    "torchrun": (
        "SLURM_PROCID=$RANK SLURM_LOCALID=$LOCAL_RANK SLURM_NTASKS=$WORLD_SIZE "
        "SLURM_NODEID=$GROUP_RANK"
    ),
}
"""Assignments that give a rank Slurm's variables, by launcher."""
JOB_ID = words("SLURM_JOB_ID SLURM_JOBID SLURM_ARRAY_JOB_ID")
IN_EVERY_POD = words(
    """
    HOME HOSTNAME PATH PWD RANDOM SECONDS OLDPWD UID BASH_SOURCE PIPESTATUS PET_NNODES
    PET_NODE_RANK PET_NPROC_PER_NODE PET_MASTER_ADDR PET_MASTER_PORT
    """
)
"""Variables that the pod or its shell sets."""
NAME_OF_JOB = "${HOSTNAME%-*-*-*}"
"""The TrainJob's name in bash: its pods are called ``JOB-launcher-0-0`` and ``JOB-node-0-N``."""

_REASONS = {
    r"PMIX_MCA_\w+": "the runtime sets how its ranks are started",
    r"(SLURM|SBATCH|SRUN)_\w+": "only Slurm reads it",
    r"PET_\w+": "Trainer sets it",
}


def reason_to_drop(name: str, value: str) -> str:
    """Return why a variable is left out; empty for one that is kept."""
    if name in REFUSED:
        return "the platform's own scripts or the container runtime obey it"
    if reason := options.variable(name, value):
        return reason
    for pattern, reason in _REASONS.items():
        if re.fullmatch(pattern, name):
            return reason
    return ""
