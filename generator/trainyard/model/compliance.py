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
    """

    name: str
    at: Pointer
    title: str
    controls: Mapping[str, str]

    def asks(self, measure: str) -> bool:
        """Return whether a measure is demanded."""
        return measure in self.controls
