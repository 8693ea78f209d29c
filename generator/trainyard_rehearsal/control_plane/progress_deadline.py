"""When nothing moves any more, so that a wait may end."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(slots=True)
class ProgressDeadline:
    """How long something has been as it is.

    Args:
        seconds: that it may be.
    """

    seconds: float
    _state: object = None
    _since: float = 0.0

    def exceeded(self, state: object) -> bool:
        """Take what there is now; tell whether it has been so for too long."""
        now = time.monotonic()
        if state != self._state:
            self._state, self._since = state, now
        return now - self._since >= self.seconds
