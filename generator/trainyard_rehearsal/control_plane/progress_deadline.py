"""A deadline for waits that make no progress."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(slots=True)
class ProgressDeadline:
    """Time since the last change of a state.

    Args:
        seconds: maximum time without a change.
    """

    seconds: float
    _state: object = None
    _since: float = 0.0

    def exceeded(self, state: object) -> bool:
        """Record the present state; return whether it has been unchanged for too long."""
        now = time.monotonic()
        if state != self._state:
            self._state, self._since = state, now
        return now - self._since >= self.seconds
