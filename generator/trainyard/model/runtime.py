"""A runtime: a versioned image, and the program that starts its ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model.launcher import OPENMPI, Launcher

INITIALIZERS = {"dataset": "dataset-initializer", "model": "model-initializer"}
"""Names that Trainer gives a job's ``spec.initializer`` to
(kubeflow/trainer:pkg/constants/constants.go@v2.3.0)."""


@dataclass(frozen=True, slots=True)
class Step:
    """A small pod before the ranks, with a part of what the job's nodes give.

    Args:
        name: of the replicated job and its container.
        volume: storage that it shares with the ranks.
        cpu: millicores.
        memory: bytes.
    """

    name: str
    image: str
    volume: str
    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime, from its profile.

    Args:
        name: of the profile's file; teams list it.
        family: the name without its version, which a file of an older version ends with.
        version: part of the object's name; a released version is never edited in place.
        description: what it is for, in one sentence; empty when the profile doesn't state it.
        image: by digest.
        pull_secret: name of a pull secret of the cluster; empty for none.
        libraries: library -> version, stated for users; that of the launcher decides which
            variables are obeyed.
        small_launcher: whether MPI's launcher has a small pod of its own, without ranks.
        fabric: how ranks talk: ``gpudirect``, ``rdma``, ``tcp`` or ``isolated`` (neither RDMA nor
            GPU peers); empty for the fastest that each node has.
        architectures: that its images are for, sorted.
        hardware: names of the hardware profiles that it runs on.
        shared_memory: bytes of /dev/shm of a whole node, inside the pod's memory.
        binding: ``cores`` (each rank is bound to its share) or ``none``.
        ranks: that each whole node starts; 0 for one a GPU, or one a core.
        max_nodes: cap on nodes of one job; 1 for jobs of one pod, MPI's too.
        end: ISO date after which a deprecated version is gone; empty when it is supported.
        deadline: seconds that one attempt of a job may run; 0 for any time.
        grace: seconds that ranks have between SIGTERM and SIGKILL.
        restarts: how often a job that fails is started again.
        initializers: steps before the ranks.
        export: command that runs when a job's own has ended well; empty for none.
    """

    name: str
    family: str
    at: Pointer
    version: int
    display_name: str
    description: str
    docs: str
    framework: str
    image: str
    pull_secret: str
    libraries: Mapping[str, str]
    launcher: Launcher
    small_launcher: bool
    fabric: str
    architectures: tuple[str, ...]
    hardware: tuple[str, ...]
    shared_memory: int
    binding: str
    ranks: int
    max_nodes: int
    end: str
    deadline: int
    grace: int
    restarts: int
    initializers: tuple[Step, ...]
    export: tuple[str, ...]

    @property
    def uses_rdma(self) -> bool:
        """Return whether its ranks talk over the rails, where a node has some."""
        return self.fabric not in {"tcp", "isolated"}

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of the replicated jobs after the steps: a job of one pod is its launcher alone."""
        roles = self.launcher.roles
        return roles if self.small_launcher else roles[: self.max_nodes]

    @property
    def rank_roles(self) -> tuple[str, ...]:
        """Names of the replicated jobs with ranks."""
        return self.roles[1:] if self.small_launcher else self.roles

    @property
    def smallest_job(self) -> int:
        """Pods with ranks of the smallest job.

        Trainer starts max(numNodes - 1, 1) nodes beside a launcher with ranks, where the runtime
        has nodes (kubeflow/trainer:pkg/runtime/framework/plugins/mpi/mpi.go@v2.3.0).
        """
        return 1 if self.small_launcher else len(self.roles)

    @property
    def binds(self) -> bool:
        """Return whether each rank is bound to cores of its own: only MPI's launchers do."""
        return self.launcher.mpi and self.binding == "cores" and not self.binds_to_sockets

    @property
    def binds_to_sockets(self) -> bool:
        """Return whether ranks are bound, but share the cores of a socket.

        Open MPI 5.0.0 to 5.0.9 start nothing if a number of cores is the default (seen with 5.0.7
        and 5.0.9; openpmix/prrte:src/mca/rmaps/base/rmaps_base_frame.c@v3.0.12).
        """
        is_bound = self.launcher == OPENMPI and self.binding == "cores"
        numbers = tuple(map(int, re.findall(r"\d+", self.launcher_version)[:3]))
        return is_bound and (5,) <= numbers < (5, 0, 10)

    @property
    def launcher_version(self) -> str:
        """Version of the library that starts the ranks; empty when the profile doesn't state it."""
        return self.libraries.get(self.launcher.library, "")
