"""Views of a queue and its flavors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from trainyard.model.queue import CoveredResource, Queue
from trainyard.render.views.cluster import ClusterView

FRAMEWORKS = {
    "AppWrapper": "workload.codeflare.dev/appwrapper",
    "BatchJob": "batch/job",
    "Deployment": "deployment",
    "JobSet": "jobset.x-k8s.io/jobset",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/leaderworkerset",
    "MPIJob": "kubeflow.org/mpijob",
    "PaddleJob": "kubeflow.org/paddlejob",
    "Pod": "pod",
    "PyTorchJob": "kubeflow.org/pytorchjob",
    "RayCluster": "ray.io/raycluster",
    "RayJob": "ray.io/rayjob",
    "StatefulSet": "statefulset",
    "TFJob": "kubeflow.org/tfjob",
    "TrainJob": "trainer.kubeflow.org/trainjob",
    "XGBoostJob": "kubeflow.org/xgboostjob",
}
"""Names of the Kueue operator's object -> of Kueue's Configuration
(sigs.k8s.io/kueue:pkg/controller/jobs@v0.19.2)."""


def kubeflow_jobs(frameworks: Collection[str], *, has_mpi_jobs: bool) -> list[str]:
    """Return which of Kubeflow's jobs Kueue queues, as API paths name them, sorted.

    Args:
        frameworks: kinds that it queues.
        has_mpi_jobs: whether a team may create MPIJobs, which then have policies of their own.
    """
    found = (FRAMEWORKS[each].partition("/") for each in sorted(frameworks))
    kinds = [f"{kind}s" for group, _, kind in found if group == "kubeflow.org"]
    return [each for each in kinds if not (has_mpi_jobs and each == "mpijobs")]


def stop_policy(queue: Queue, held: Collection[str]) -> str:
    """Return Kueue's policy: to admit jobs, none, or none and to evict the running ones.

    Args:
        queue: the queue, whose state counts first.
        held: names of open queues in which no job can start. Their running jobs stay until somebody
            empties the nodes.
    """
    return "Hold" if queue.name in held else queue.state.stop_policy


@dataclass(frozen=True, slots=True)
class QueuedFlavor:
    """A flavor as a ClusterQueue lists it."""

    name: str
    resources: tuple[CoveredResource, ...]


@dataclass(frozen=True, slots=True)
class QueueView:
    """A team's ClusterQueue, as templates read it."""

    queue: Queue

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the ClusterQueue."""
        cluster = self.queue.cluster
        return {**ClusterView(cluster).labels, cluster.team_label_key: self.queue.team.name}

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces that may use it: by the label that the API server sets and no tenant can."""
        team = self.queue.team
        return tuple(space.namespace for space in team.spaces)

    @property
    def weight_quantity(self) -> str:
        """Weight of the team, as a quantity."""
        return str(self.queue.team.weight)

    @property
    def quotas(self) -> tuple[QueuedFlavor, ...]:
        """The flavors in order of preference, each with every covered resource."""
        covered = self.queue.covered
        return tuple(
            QueuedFlavor(flavor.name, flavor.resources(covered)) for flavor in self.queue.flavors
        )

    @property
    def when_can_borrow(self) -> str:
        """Kueue's order: own nodes of the next flavor come before borrowed ones of this."""
        return "TryNextFlavor" if len(self.queue.flavors) > 1 else "MayStopSearch"
