"""Programs that start the ranks of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.model.named import by_name


@dataclass(frozen=True, slots=True)
class Launcher:
    """A program that starts ranks.

    Args:
        library: key of its version among a runtime's libraries.
        majors: versions that are known to obey what we set; any when empty.
        mpi: whether Trainer's MPI plugin gives it keys and a hostfile; it then has a pod of its
            own, a node too.
        command: what a job's own command begins with.
        example: arguments of the job to copy.
        wrapped: whether the command is a program of ours, since Trainer prepares nothing for it.
    """

    name: str
    library: str
    majors: tuple[int, ...]
    mpi: bool
    command: tuple[str, ...]
    example: tuple[str, ...]
    wrapped: bool = False

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of the replicated jobs with ranks."""
        return ("launcher", "node") if self.mpi else ("node",)


OPENMPI = Launcher(
    "openmpi",
    "openmpi",
    (4, 5),
    mpi=True,
    command=("mpirun",),
    # Open MPI 5 waits for ever for a rank that ends within milliseconds of its start.
    example=("bash", "-c", "hostname; sleep 1"),
)
INTEL_MPI = Launcher(
    "intel-mpi",
    "intel-mpi",
    (2021,),
    mpi=True,
    command=("/opt/trainyard/mpirun",),
    example=("hostname",),
    wrapped=True,
)
"""Trainer knows Open MPI only (`mpiImplementation`): a script turns its hostfile into one that
Hydra reads."""

TORCHRUN = Launcher(
    "torchrun", "torch", (), mpi=False, command=("torchrun",), example=("--no-python", "hostname")
)
"""Trainer's torch plugin gives each pod its rank and the first pod's name."""

LAUNCHERS: Mapping[str, Launcher] = by_name((INTEL_MPI, OPENMPI, TORCHRUN))
"""By the name in a runtime's profile."""
