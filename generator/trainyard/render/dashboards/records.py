"""Series that only dashboards read: what the pods of each job do."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.platform import Site
from trainyard.render.alerts.alert import of_namespace, own
from trainyard.render.alerts.record import Record
from trainyard.render.dashboards.promql import OWNED

_OF_JOB = "* on (namespace, pod) group_left (trainjob, team) trainyard:pod:job"


def records(site: Site) -> Iterator[Record]:
    """Yield the series of a cluster that has dashboards."""
    sources = {each.name for each in site.cluster.sources}
    if "kube-state-metrics" in sources:
        yield Record("trainyard:pod:job", _jobs(has_mpi_jobs=bool(site.mpi_spaces)))
    if "dcgm-exporter" in sources:
        yield Record("trainyard:pod:gpu_use", f"{_by_pod('DCGM_FI_DEV_GPU_UTIL')} / 100 {_OF_JOB}")
        tensor = _by_pod("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE")
        yield Record("trainyard:pod:tensor_use", f"{tensor} {_OF_JOB}")


def _jobs(*, has_mpi_jobs: bool) -> str:
    """Return the job of each pod of our teams: by its Job and JobSet, or its MPIJob.

    A TrainJob and its JobSet have one name (kubeflow/trainer:pkg/runtime/framework/plugins/jobset).
    """
    named = '"trainjob", "$1", "owner_name", "(.+)"'
    jobs = f"max by (namespace, job_name, owner_name) ({OWNED})"
    pods = 'label_replace(kube_pod_owner{owner_kind="Job"}, "job_name", "$1", "owner_name", "(.+)")'
    of_jobs = (
        f"{pods} * on (namespace, job_name) group_left (trainjob) label_replace({jobs}, {named})"
    )
    if has_mpi_jobs:
        of_jobs += f' or label_replace(kube_pod_owner{{owner_kind="MPIJob"}}, {named})'
    return of_namespace(f"max by (namespace, pod, trainjob) ({of_jobs})")


def _by_pod(metric: str) -> str:
    return f"avg by (namespace, pod) ({own(metric, 'namespace', 'pod')})"
