"""How jobs are launched: a versioned image with its MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generator.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime as its profile tells it.

    Args:
        version: part of the object's name; a released version is never edited in place.
        image: by digest.
        pull_secret: name of a pull secret of the cluster; empty for none.
        libraries: library -> version, stated for users; ``openmpi`` decides which variables mpirun obeys.
        hardware: names of the hardware profiles that it runs on.
        shared_memory: bytes of /dev/shm, inside the pod's memory.
        binding: ``cores`` (each rank is bound to its share) or ``none``.
        max_nodes: cap on nodes of one job.
    """

    name: str
    at: Pointer
    version: int
    display_name: str
    docs: str
    framework: str
    image: str
    pull_secret: str
    libraries: Mapping[str, str]
    hardware: tuple[str, ...]
    shared_memory: int
    binding: str
    max_nodes: int
