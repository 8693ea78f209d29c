"""Collect the notes of a conversion."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import Kind, Remark


@dataclass(slots=True)
class Remarks:
    """Notes in the order in which they are found; each is kept once."""

    found: list[Remark] = field(default_factory=list)

    def dropped(self, at: Pointer, what: str, meaning: str) -> None:
        """Note what is not in the TrainJob."""
        self._add(Remark(at, Kind.DROPPED, what, meaning))

    def changed(self, at: Pointer, what: str, meaning: str) -> None:
        """Note what is in the TrainJob and means something else."""
        self._add(Remark(at, Kind.CHANGED, what, meaning))

    def choose(self, at: Pointer, what: str, meaning: str) -> None:
        """Note what the reader decides."""
        self._add(Remark(at, Kind.CHOOSE, what, meaning))

    def _add(self, note: Remark) -> None:
        if note not in self.found:
            self.found.append(note)

    @property
    def in_order(self) -> tuple[Remark, ...]:
        """The notes by their lines."""
        return tuple(sorted(self.found, key=lambda note: (note.at.line, note.at.column)))
