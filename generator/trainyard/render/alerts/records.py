"""Series that only dashboards read: what the pods of each job do."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.named import by_name
from trainyard.model.platform import Site
from trainyard.render.alerts.alert import own
from trainyard.render.alerts.pods import job_of_pod
from trainyard.render.alerts.record import Record

_OF_JOB = "* on (namespace, pod) group_left (trainjob, team) trainyard:pod:job"


def records(site: Site) -> Iterator[Record]:
    """Yield the series of a cluster that has dashboards."""
    sources = by_name(site.cluster.sources)
    if "kube-state-metrics" in sources:
        yield Record("trainyard:pod:job", job_of_pod(site))
    if "dcgm-exporter" in sources:
        yield Record("trainyard:pod:gpu_use", f"{_by_pod('DCGM_FI_DEV_GPU_UTIL')} / 100 {_OF_JOB}")
        tensor = _by_pod("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE")
        yield Record("trainyard:pod:tensor_use", f"{tensor} {_OF_JOB}")


def _by_pod(metric: str) -> str:
    return f"avg by (namespace, pod) ({own(metric, 'namespace', 'pod')})"
