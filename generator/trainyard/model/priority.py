"""Priority classes of a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Priority:
    """A WorkloadPriorityClass.

    Args:
        deadline: seconds that a job of the class may run; 0 for any time.
    """

    name: str
    at: Pointer
    value: int
    deadline: int

    @property
    def labels(self) -> dict[str, str]:
        """Labels of a job of the class: its name, and the longest that it may run."""
        end = {"kueue.x-k8s.io/max-exec-time-seconds": str(self.deadline)} if self.deadline else {}
        return {"kueue.x-k8s.io/priority-class": self.name, **end}
