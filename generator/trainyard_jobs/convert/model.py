"""A job of another system as a TrainJob, and what of it is lost or means something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.expansion import literal

Body = dict[str, Any]


class Kind(StrEnum):
    """What became of a part of the source, the most urgent first."""

    REFUSED = "refused"
    CHOOSE = "choose"
    CHANGED = "changed"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Remark:
    """A part of the source that is not in the TrainJob as it was.

    Args:
        at: place in the source.
        kind: refused: the job can't be converted; choose: the reader decides; changed: it is there
            and means something else; dropped: it is not there.
        what: the field, option or line, as the source names it.
        meaning: the consequence, then what to do.
    """

    at: Pointer
    kind: Kind
    what: str
    meaning: str


class RefusedError(Exception):
    """A part of a job that has no counterpart or is not understood: the whole job is refused.

    Args:
        at: place in the source.
        what: the part, as the source names it.
        reason: why the job can't be converted.
        way: what to do in its place, as a sentence.
    """

    def __init__(self, at: Pointer, what: str, reason: str, way: str = "") -> None:
        super().__init__(what)
        self.at, self.reason = at, reason
        self.remark = Remark(at, Kind.REFUSED, what, f"{reason}. {way}" if way else reason)


@dataclass(frozen=True, slots=True)
class Conversion:
    """One job of the source.

    Args:
        name: the job as the source names it, e.g. ``MPIJob nlp/mnist``.
        at: where it begins.
        job: the TrainJob; None when the notes refuse it.
        notes: in the order of the source.
        runtime: profile of the runtime that the job needs to keep its image; None where the team
            has one, or the source names no image.
        unread: lines of the source that are not all in the TrainJob.
    """

    name: str
    at: Pointer
    job: Body | None
    notes: tuple[Remark, ...]
    runtime: Body | None = None
    unread: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether nothing of the source was refused."""
        return all(note.kind is not Kind.REFUSED for note in self.notes)


def variables(values: Mapping[str, str]) -> tuple[Body, ...]:
    """Return variables as a container has them; Kubernetes expands nothing in their values."""
    return tuple({"name": name, "value": literal(value)} for name, value in values.items())
