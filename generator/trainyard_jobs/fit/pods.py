"""The pods that Trainer makes of a TrainJob and its runtime, as Kueue counts them.

Sources: kubeflow/trainer:pkg/runtime/core/trainingruntime.go and
pkg/runtime/framework/plugins/{mpi,torch,jobset} @v2.1.0 and @v2.3.0;
kubernetes-sigs/kueue:pkg/controller/jobs/trainjob/trainjob_controller.go @v0.16.2 and @v0.19.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.model.lookup import mapping, mappings, value_at
from trainyard.model.quantity import in_base_units
from trainyard_jobs.fit.limit_range import with_defaults
from trainyard_jobs.fit.merge import merged

Body = dict[str, Any]

_ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
_GROUP = "kueue.x-k8s.io/podset-group-name"
_CONTAINER = "node"
_JOBS = "replicatedJobs"


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of one role of a job.

    Args:
        group: pods of one group get one flavor and are placed together.
        template: of the pods, with what the job changes and the defaults of the namespace.
        requests: of one pod, in base units.
    """

    role: str
    count: int
    group: str
    template: Body
    requests: Mapping[str, int]

    @property
    def selector(self) -> dict[str, Any]:
        """Labels that the nodes of the pods must have."""
        return mapping(self.template, "spec", "nodeSelector")


def pod_requests(template: Body) -> dict[str, int]:
    """Return the requests of one pod in base units.

    Those of its containers together, or of an init container that asks for more.
    Source: kubernetes/component-helpers:resource/helpers.go (PodRequests).

    Raises:
        ValueError: an amount is not a quantity.
    """
    total: Counter[str] = Counter()
    for container in mappings(template, "spec", "containers"):
        total.update(requests_of(container))
    for container in mappings(template, "spec", "initContainers"):
        for name, amount in requests_of(container).items():
            total[name] = max(total[name], amount)
    return dict(sorted(total.items()))


def requests_of(container: Body) -> dict[str, int]:
    """Return the requests of a container; what only has a limit requests as much.

    Raises:
        ValueError: an amount is not a quantity, or below 0.
    """
    requests: dict[str, int] = {}
    for part in ("limits", "requests"):
        for name, amount in mapping(container, "resources", part).items():
            requests[name] = in_base_units(name, str(amount))
            if requests[name] < 0:
                raise ValueError(f"{amount} {name} is below 0")
    return requests


def pods_of(runtime: Body, job: Body, ranges: Sequence[Body] = ()) -> tuple[Pods, ...]:
    """Return the pods of a job, in the order of its runtime's replicated jobs.

    Args:
        runtime: a ClusterTrainingRuntime.
        job: a TrainJob that names it.
        ranges: LimitRanges of the job's namespace.

    Raises:
        ValueError: an amount is not a quantity.
    """
    policy = mapping(runtime, "spec", "mlPolicy")
    replicated_jobs = mappings(runtime, "spec", "template", "spec", _JOBS)
    return tuple(_pods(replicated, policy, job, ranges) for replicated in replicated_jobs)


def _pods(replicated: Body, policy: Body, job: Body, ranges: Sequence[Body]) -> Pods:
    role = str(replicated.get("name", ""))
    template = mapping(replicated, "template", "spec", "template")
    for changed, change in changes_of(job):
        if changed == role:
            template = merged(template, change)
    if _runs_ranks(replicated, policy):
        template = _with_trainer(template, mapping(job, "spec", "trainer"))
    group = mapping(template, "metadata", "annotations").get(_GROUP, role)
    template = with_defaults(template, ranges)
    count = _count(replicated, policy, job)
    return Pods(role, count, str(group), template, pod_requests(template))


def _count(replicated: Body, policy: Body, job: Body) -> int:
    """Return the number of pods of a replicated job."""
    wanted = value_at(job, "spec.trainer.numNodes")
    mpi = "mpi" in policy
    if _step(replicated) == "trainer":
        return int(policy.get("numNodes", 1) if mpi or wanted is None else wanted)
    if mpi and wanted is not None and replicated.get("name") == "node":
        return _mpi_nodes(policy, int(wanted))
    return int(value_at(replicated, "template.spec.parallelism") or 1)


def _mpi_nodes(policy: Body, wanted: int) -> int:
    """Return the pods beside the launcher, which may be one of the nodes of a job."""
    return max(wanted - 1, 1) if value_at(policy, "mpi.runLauncherAsNode") else wanted


def _step(replicated: Body) -> str:
    return str(mapping(replicated, "template", "metadata", "labels").get(_ANCESTOR, ""))


def _runs_ranks(replicated: Body, policy: Body) -> bool:
    """Return whether the fields of ``spec.trainer`` apply to a replicated job."""
    as_node = bool(value_at(policy, "mpi.runLauncherAsNode"))
    return _step(replicated) == "trainer" or (as_node and replicated.get("name") == "node")


def changes_of(job: Body) -> Iterator[tuple[str, Body]]:
    """Yield what a job changes in the pod templates of replicated jobs, in its order."""
    for override in mappings(job, "spec", "podTemplateOverrides"):
        change: Body = {key: override[key] for key in ("metadata", "spec") if key in override}
        for target in mappings(override, "targetJobs"):
            yield str(target.get("name")), change
    for patch in mappings(job, "spec", "runtimePatches"):
        for replicated in mappings(patch, "trainingRuntimeSpec", "template", "spec", _JOBS):
            yield str(replicated.get("name")), mapping(replicated, "template", "spec", "template")


def _with_trainer(template: Body, trainer: Body) -> Body:
    """Return a pod template with the image, environment and resources that a job gives to ranks."""
    change: Body = {"name": _CONTAINER}
    change |= {key: trainer[key] for key in ("image", "env") if trainer.get(key)}
    if resources := mapping(trainer, "resourcesPerNode"):
        change["resources"] = {key: mapping(resources, key) for key in ("limits", "requests")}
    return merged(template, {"spec": {"containers": [change]}})
