"""When finished TrainJobs are deleted, and what deletes them."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.quantity import format_seconds
from trainyard.model.release import Release
from trainyard.model.storage import StoredSecret

_FINISHED = (
    '{{range .items}}{{if not .spec.suspend}}{{$old := ""}}{{range .status.conditions}}'
    '{{if and (eq .status "True") (or (eq .type "Complete") (eq .type "Failed")) (lt .lastTransitionTime "%s")}}'
    "{{$old = .type}}{{end}}{{end}}{{if $old}}{{.metadata.name}}/{{.metadata.resourceVersion}} {{end}}{{end}}{{end}}"
)
"""Go template of kubectl: ``name/resourceVersion`` of each TrainJob that ended before a time in RFC
3339."""


@dataclass(frozen=True, slots=True)
class FinishedJobs:
    """The CronJob that deletes TrainJobs some time after their end.

    Args:
        keep: seconds that a TrainJob is kept after it completed or failed.
        image: has ``sh``, ``date`` and ``kubectl``.
        pull_secret: of the image, in our own namespace; None where nodes can pull it without one.
    """

    at: Pointer
    release: Release
    keep: int
    image: str
    pull_secret: StoredSecret | None

    @property
    def name(self) -> str:
        """Name of the CronJob and of its service account."""
        return names.FINISHED_JOBS

    @property
    def role(self) -> str:
        """ClusterRole that is bound in each team's namespace."""
        return names.FINISHED_JOBS_ROLE

    @property
    def keep_told(self) -> str:
        """The same time as the profile says it, e.g. ``3d``."""
        return format_seconds(self.keep)

    @property
    def keep_text(self) -> str:
        """Seconds as the value of an environment variable."""
        return str(self.keep)

    @property
    def query(self) -> str:
        """What kubectl prints of the TrainJobs of a namespace; ``%s`` is the time before which they ended."""
        return _FINISHED

    @property
    def image_pull_secrets(self) -> list[dict[str, str]]:
        """The pull secret, by name."""
        return [{"name": self.pull_secret.name}] if self.pull_secret else []

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of the pod: the SCC that it is pinned to, where there is one."""
        return {"openshift.io/required-scc": self.release.job_scc} if self.release.job_scc else {}

    @property
    def pod_security(self) -> dict[str, object]:
        """Security context of the pod, which mounts no volume."""
        return {key: value for key, value in self.release.pod_security.items() if key != "fsGroup"}
