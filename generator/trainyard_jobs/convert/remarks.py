"""Collect the notes of a conversion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import Kind, RefusedError, Remark


@dataclass(slots=True)
class Remarks:
    """Notes in the order in which they are found; each is kept once."""

    notes: dict[Remark, None] = field(default_factory=dict)

    def dropped(self, at: Pointer, what: str, meaning: str) -> None:
        """Note what is not in the TrainJob."""
        self.add(Remark(at, Kind.DROPPED, what, meaning))

    def changed(self, at: Pointer, what: str, meaning: str) -> None:
        """Note what is in the TrainJob and means something else."""
        self.add(Remark(at, Kind.CHANGED, what, meaning))

    def choose(self, at: Pointer, what: str, meaning: str) -> None:
        """Note what the reader decides."""
        self.add(Remark(at, Kind.CHOOSE, what, meaning))

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Note what is refused within the block, which ends there."""
        try:
            yield
        except RefusedError as error:
            self.add(error.remark)

    @property
    def refuses(self) -> bool:
        """Return whether a part of the source was refused."""
        return any(note.kind is Kind.REFUSED for note in self.notes)

    def add(self, *notes: Remark) -> None:
        """Take notes."""
        self.notes |= dict.fromkeys(notes)

    @property
    def in_order(self) -> tuple[Remark, ...]:
        """The notes by their lines."""
        return tuple(sorted(self.notes, key=lambda note: (note.at.line, note.at.column)))
