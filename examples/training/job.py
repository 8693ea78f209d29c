"""What each training program here does the same way; copy this file beside yours.

It needs Python alone, and mpi4py where `rendezvous` is called under mpirun.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import BinaryIO

EVICTED = 75
"""Exit code after an eviction (`EX_TEMPFAIL` of sysexits.h); 0 would mean that the job is done."""


def _number(default: int, *names: str) -> int:
    """Return the value of the first variable that is set."""
    return next((int(os.environ[name]) for name in names if name in os.environ), default)


# Open MPI's, Intel MPI's and torchrun's names.
RANK = _number(0, "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK")
SIZE = _number(1, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE")
LOCAL_RANK = _number(0, "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "LOCAL_RANK")


def log(message: str) -> None:
    """Print a line that names its rank and host, at once: a log that is cut off has it."""
    print(f"rank {RANK} of {SIZE} on {socket.gethostname()}: {message}", flush=True)  # noqa: T201


def options(about: str | None, steps: int = 200) -> argparse.Namespace:
    """Return what the job's command says."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--checkpoints", type=Path, required=True, help="folder on a mount")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--save-every", type=int, default=50, help="a lost node sends no signal")
    parser.add_argument("--delay", type=float, default=0, help="more seconds for each step")
    return parser.parse_args()


def log_once(message: str) -> None:
    """Print a line of the first rank; the same of all ranks would hide the rest."""
    if RANK == 0:
        log(message)


class Eviction:
    """Notes SIGTERM, which every rank gets when its pod is deleted.

    The handler only notes it: a step that has begun ends, and the program then writes its
    checkpoint. All ranks must agree on the step first, as the signal reaches them at different
    times.
    """

    def __init__(self) -> None:
        self.begun = False
        signal.signal(signal.SIGTERM, self._note)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.begun = True


def save(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Replace a file as a whole: a program that is killed meanwhile leaves the old one.

    Args:
        path: of the file. Only one rank may write it.
        write: writes the content to an open file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # On the same volume, or the file could not be renamed.
    scratch = path.with_name(f".{path.name}.new")
    with scratch.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def rendezvous() -> None:
    """Set the variables by which torch.distributed finds rank 0; torchrun has set them already."""
    if "MASTER_ADDR" in os.environ:
        return
    from mpi4py import MPI  # noqa: PLC0415

    with socket.create_server(("", 0)) as free:
        own = socket.gethostbyname(socket.gethostname()), free.getsockname()[1]
    address, port = MPI.COMM_WORLD.bcast(own)
    # torch's own collectives do the rest. If a rank fails, MPI would wait for it at its end.
    MPI.Finalize()
    os.environ |= {"MASTER_ADDR": address, "MASTER_PORT": str(port)}
    os.environ |= {"RANK": str(RANK), "WORLD_SIZE": str(SIZE), "LOCAL_RANK": str(LOCAL_RANK)}
