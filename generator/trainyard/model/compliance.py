"""A regulation, and its demands on the teams that are under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Compliance:
    """A regulation, from its profile.

    Args:
        title: of the regulation.
        controls: measure -> the control that it answers; what is not there is not asked.
        keep_logs: days that the lines of its teams' pods are kept at least; 0 if it states none.
    """

    name: str
    at: Pointer
    title: str
    controls: Mapping[str, str]
    keep_logs: int

    def asks(self, measure: str) -> bool:
        """Return whether a measure is demanded."""
        return measure in self.controls
