"""When finished TrainJobs are deleted, and what deletes them."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.release import Release
from trainyard.model.storage import StoredSecret


@dataclass(frozen=True, slots=True)
class FinishedJobs:
    """The CronJob that deletes TrainJobs some time after their end.

    Args:
        keep: seconds that a TrainJob is kept after it completed or failed.
        image: has ``sh``, ``date`` and ``kubectl``.
        pull_secret: of the image, in our own namespace; None where nodes can pull it without one.
        architecture: of the nodes that it runs on; empty for any.
    """

    at: Pointer
    release: Release
    keep: int
    image: str
    pull_secret: StoredSecret | None
    architecture: str

    @property
    def name(self) -> str:
        """Name of the CronJob and of its service account."""
        return names.FINISHED_JOBS
