"""Nodes of a pool that are out of use for a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from trainyard.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Nodes that no job uses as long as the profile lists them.

    Args:
        nodes: names of Node objects, in the profile's order.
        until: ISO date of the last day on which they are expected to be out of use.
        taken: team -> nodes that it lacks meanwhile; GPUs or cores where it has a share.
    """

    at: Pointer
    nodes: tuple[str, ...]
    until: str
    reason: str
    taken: Mapping[str, int]

    @property
    def display(self) -> str:
        """The nodes with the day and the reason, e.g. ``gpu-07 until 2026-12-01 (new cable)``."""
        return f"{', '.join(self.nodes)} until {self.until} ({self.reason})"

    @property
    def end(self) -> int:
        """The first second after its last day in UTC, in seconds since 1970."""
        # Not as a date: the calendar has no day after 9999-12-31.
        day = datetime.fromisoformat(self.until).replace(tzinfo=UTC)
        return int(day.timestamp()) + 24 * 60 * 60
