"""The fields of an object, of which each is either read or left over, so that none gets lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.diagnostics import Pointer, Step
from trainyard_jobs.convert.model import Body, Kind, Remark
from trainyard_jobs.convert.words import words

Path = tuple[Step, ...]

NOTHING: tuple[object, ...] = (None, False, "", {}, [])
"""Values that mean the same as no value."""


@dataclass(frozen=True, slots=True)
class Replicated:
    """A kind of job of the operators of Kubeflow before Trainer.

    Args:
        name: of the kind.
        replicas: field of the spec with the pods by role.
        roles: of the pods; the command of the first one is that of the job.
    """

    name: str
    replicas: str
    roles: tuple[str, str]


MPIJOB = Replicated("MPIJob", "mpiReplicaSpecs", ("Launcher", "Worker"))
PYTORCHJOB = Replicated("PyTorchJob", "pytorchReplicaSpecs", ("Master", "Worker"))
KINDS = (MPIJOB, PYTORCHJOB)


@dataclass(slots=True)
class Fields:
    """An object while it is read.

    Args:
        body: of the object.
        at: its place.
        kind: the kind of the job.
        notes: about its fields, in the order in which they were read.
    """

    body: Body
    at: Pointer
    kind: Replicated
    notes: list[Remark] = field(default_factory=list)
    _read: set[Path] = field(default_factory=set)

    def role(self, role: str, *path: Step) -> Path:
        """Return the path of a field of a role's pods."""
        return ("spec", self.kind.replicas, role, *path)

    def place(self, *path: Step) -> Pointer:
        """Return the place of a field."""
        return self.at.below(path)

    def places(self, paths: Mapping[str, Path]) -> dict[str, Pointer]:
        """Return the places of fields."""
        return {name: self.place(*path) for name, path in paths.items()}

    def peek(self, *path: Step) -> Any:
        """Return the value of a field; None when it is not there. It stays left over."""
        value: Any = self.body
        for step in path:
            value = _below(value, step)
        return value

    def take(self, *path: Step) -> Any:
        """Return the value of a field, and mark it and everything in it as read."""
        self._read.add(path)
        return self.peek(*path)

    def text(self, *path: Step) -> str:
        """Return the value of a field as text; empty when it is not there."""
        value = self.take(*path)
        return "" if value is None else str(value)

    def number(self, default: int, *path: Step) -> int:
        """Return a field that is a whole number, or its default; another value is refused."""
        value = self.take(*path)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if value is not None:
            self.note(Kind.REFUSED, path, str(path[-1]), f"{value!r} is not a whole number")
        return default

    def mapping(self, *path: Step) -> Body:
        """Return a field that is a mapping, without marking it; empty for any other value."""
        value = self.peek(*path)
        return value if isinstance(value, dict) else {}

    def sequence(self, *path: Step) -> list[Any]:
        """Return a field that is a list, without marking it; empty for any other value."""
        value = self.peek(*path)
        return value if isinstance(value, list) else []

    def members(self, *path: Step) -> Iterator[tuple[Path, Body]]:
        """Yield path and value of each mapping in a list."""
        for index, member in enumerate(self.sequence(*path)):
            if isinstance(member, dict):
                yield (*path, index), member

    def note(self, kind: Kind, path: Path, what: str, meaning: str) -> None:
        """Note something about a field."""
        self.notes.append(Remark(self.place(*path), kind, what, meaning))

    def note_remark(self, path: Path, remark: tuple[Kind, str, str]) -> None:
        """Note kind, what and meaning about a field."""
        kind, what, meaning = remark
        self.note(kind, path, what, meaning)

    def left(self) -> Iterator[Path]:
        """Yield the path of each outermost field that was not read at all."""
        yield from self._left((), self.body)

    def _left(self, path: Path, value: Any) -> Iterator[Path]:
        if path in self._read or value in NOTHING:
            return
        if not isinstance(value, dict | list) or not self._is_entered(path):
            yield path
            return
        steps = value if isinstance(value, dict) else range(len(value))
        for step in steps:
            yield from self._left((*path, step), value[step])

    def _is_entered(self, path: Path) -> bool:
        """Return whether a field in a mapping or list was read, or is known to hold several."""
        size = len(path)
        is_known = bool(path) and path[-1] in _ENTERED
        return is_known or any(read[:size] == path for read in self._read)


_ENTERED = words(
    """
    Launcher Master Worker annotations containers initContainers labels metadata mpiReplicaSpecs
    pytorchReplicaSpecs runPolicy schedulingPolicy spec template volumeMounts volumes
    """
)
"""Names of fields of which each member has a meaning of its own."""


def _below(value: Any, step: Step) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None
