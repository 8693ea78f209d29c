"""Series that only dashboards read: nodes of quotas, and what the pods of each job do."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.render.alerts.alert import of_namespace
from trainyard.render.alerts.record import Record
from trainyard.render.dashboards.promql import own

_OF_JOB = "* on (namespace, pod) group_left (trainjob, team) trainyard:pod:job"


def records(site: Site) -> Iterator[Record]:
    """Yield the series of a cluster that has dashboards."""
    sources = {each.name for each in site.cluster.sources}
    if "kueue" in sources:
        yield from _nodes(site)
    if "kube-state-metrics" in sources:
        yield Record("trainyard:pod:job", _jobs())
    if "dcgm-exporter" in sources:
        yield Record("trainyard:pod:gpu_use", f"{_by_pod('DCGM_FI_DEV_GPU_UTIL')} / 100 {_OF_JOB}")
        tensor = _by_pod("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE")
        yield Record("trainyard:pod:tensor_use", f"{tensor} {_OF_JOB}")


def _nodes(site: Site) -> Iterator[Record]:
    """Yield the nodes that each queue owns and uses, by pool."""
    for pool in site.cluster.pools:
        resource = counted_by(pool)
        amount = pool.allocatable[resource] / (1000 if resource == "cpu" else 1)
        labels = {"pool": pool.name, "resource": resource}
        yield Record("trainyard:pool:node_size", f"vector({amount:g})", labels)
    for tenant in site.tenants:
        for queue in tenant.queues:
            for flavor in queue.flavors:
                labels = {
                    "cluster_queue": queue.name,
                    "pool": flavor.pool.name,
                    "team": tenant.name,
                }
                owned = f"vector({float(flavor.quota.nodes):g})"
                yield Record("trainyard:cluster_queue:own_nodes", owned, labels)
    used = "max by (cluster_queue, flavor, resource) (kueue_cluster_queue_resource_reservation)"
    yield Record(
        "trainyard:cluster_queue:used_nodes",
        f'max by (cluster_queue, pool) (label_replace({used}, "pool", "$1", "flavor", "(.+)") '
        "/ on (pool, resource) group_left () trainyard:pool:node_size)",
    )


def counted_by(pool: Pool) -> str:
    """Return the resource by which nodes in use are counted: GPUs, or CPUs where there are none."""
    gpu = pool.hardware.gpu
    return gpu.resource if gpu else "cpu"


def _jobs() -> str:
    """Return the job of each pod of our teams: by its Job and JobSet, or its MPIJob.

    A TrainJob and its JobSet have one name (kubeflow/trainer:pkg/runtime/framework/plugins/jobset).
    """
    named = '"trainjob", "$1", "owner_name", "(.+)"'
    jobs = 'max by (namespace, job_name, owner_name) (kube_job_owner{owner_kind=~"JobSet|MPIJob"})'
    pods = 'label_replace(kube_pod_owner{owner_kind="Job"}, "job_name", "$1", "owner_name", "(.+)")'
    of_jobs = (
        f"{pods} * on (namespace, job_name) group_left (trainjob) label_replace({jobs}, {named})"
    )
    workers = f'label_replace(kube_pod_owner{{owner_kind="MPIJob"}}, {named})'
    return of_namespace(f"max by (namespace, pod, trainjob) ({of_jobs} or {workers})")


def _by_pod(metric: str) -> str:
    return f"avg by (namespace, pod) ({own(metric, 'namespace', 'pod')})"
