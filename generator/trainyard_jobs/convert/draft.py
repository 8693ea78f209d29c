"""What a job of another system asks for, in the words of a TrainJob."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import Body, Remark

LAUNCHER, LAUNCHER_RESOURCES = "launcher pod", "launcher resources"
"""Places of a launcher without ranks, and of what it asks for."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A job as a converter understood it; `finish` gives it a runtime.

    Args:
        title: the job as the source names it, e.g. ``MPIJob nlp/mnist``.
        at: where it begins in the source.
        name: wished name of the TrainJob; a name that ends with ``-`` is a ``generateName``.
        launcher: name of the launcher in `model.launcher.LAUNCHERS`; empty for any.
        nodes: pods with ranks, that of the launcher included.
        namespace: of the source; empty when it names none.
        runtime: that must be chosen, by the name of its profile or object; empty for any.
        image: empty when the source names none.
        gpus: of each node; None when the source does not say.
        ranks: of each node; 0 for those of the runtime.
        command: of the TrainJob, with the launcher's own name for MPI (`Launcher.command`).
        args: of the command.
        env: variables of every rank, as a container has them.
        volumes: that every pod mounts.
        mounts: of these volumes.
        labels, annotations: of the TrainJob.
        queue: LocalQueue that the source names.
        priority: class that the source names.
        deadline: seconds that the job may run; 0 for any time.
        restarts: how often the source starts a failed job again.
        grace: seconds between SIGTERM and SIGKILL; 0 for the default.
        shared_memory: size of /dev/shm; empty for the default.
        notes: found so far; one that refuses ends the conversion if nothing is unread.
        unread: lines of the source in which a part was refused, for the reader of the TrainJob.
        places: of what `finish` may have to say something about, by the name of the attribute, of
            the volume or of the variable.
    """

    title: str
    at: Pointer
    name: str
    launcher: str
    nodes: int
    namespace: str = ""
    runtime: str = ""
    image: str = ""
    gpus: int | None = None
    ranks: int = 0
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[Body, ...] = ()
    volumes: tuple[Body, ...] = ()
    mounts: tuple[Body, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    queue: str = ""
    priority: str = ""
    deadline: int = 0
    restarts: int = 0
    grace: int = 0
    shared_memory: str = ""
    notes: tuple[Remark, ...] = ()
    unread: tuple[str, ...] = ()
    places: Mapping[str, Pointer] = field(default_factory=dict)

    def place(self, attribute: str) -> Pointer:
        """Return where the source says an attribute; the job itself where it does not."""
        return self.places.get(attribute, self.at)
