"""The dashboard of a job: the cluster around it, its pods, and what they use."""

from __future__ import annotations

from trainyard.model.monitoring import SRIOV_METRICS
from trainyard.render.alerts.pods import OWNED
from trainyard.render.dashboards.panel import NUMBER, TABLE, Dashboard, Panel, Query, Row, Variable
from trainyard.render.dashboards.promql import JOB, ended, of_job, vf_traffic

_CLUSTER = ("kube-state-metrics",)
_KUBELET = ("kube-state-metrics", "kubelet")
_GPUS = ("dcgm-exporter", "kube-state-metrics")
_PHASE = 'kube_pod_status_phase{namespace="$namespace"} == 1'
_NODES = 'max by (namespace, pod, node) (kube_pod_info{namespace="$namespace"})'
_PER_GPU = "avg(avg_over_time(trainyard:pod:tensor_use{{{}}}[$__range]))"


def _by_pod(metric: str, container: str = 'container!=""') -> str:
    """Return a rate or number of the chosen job's pods, with the job's namespace filled in."""
    expr = metric.replace("{}", f'{{namespace="$namespace",{container}}}')
    return f"sum by (pod) ({of_job(expr)})"


def _lasted(within: str) -> str:
    """Return the time that each Job ran, seconds, of the Jobs of our teams that succeeded."""
    end, start = (
        f"last_over_time(kube_job_status_{name}[{within}])"
        for name in ("completion_time", "start_time")
    )
    return (
        f"max by (namespace, job_name) ({end} - {start}) "
        f"and on (namespace, job_name) last_over_time({OWNED}[{within}]) "
        "and on (namespace) trainyard:namespace:team"
    )


def _ended(how: str) -> str:
    """Return how many jobs of our teams ended within an hour."""
    jobs = ended(f"jobset_{how}_total", "1h")
    return f"count({jobs} and on (namespace) trainyard:namespace:team)"


CLUSTER = (
    Panel(
        title="Jobs",
        unit="short",
        shows="All jobs of all teams: running, waiting, and ended within 1 h.",
        bad="Many wait: see the dashboard of the platform. Many fail: a node or an image is bad.",
        sources=("jobset", "kueue"),
        queries=(
            Query(
                "sum(max by (cluster_queue) (kueue_admitted_active_workloads) "
                "and on (cluster_queue) trainyard:cluster_queue:team)",
                "running",
            ),
            Query(
                "sum(trainyard:cluster_queue:pending "
                "and on (cluster_queue) trainyard:cluster_queue:team)",
                "waiting",
            ),
            Query(_ended("completed"), "succeeded"),
            Query(_ended("failed"), "failed"),
        ),
        alerts=("TrainyardJobFailed", "TrainyardQueueAdmitsNothing"),
    ),
    Panel(
        title="GPU use of the cluster",
        unit="percentunit",
        form=NUMBER,
        shows="Part of the time in which the GPUs run a kernel, those without a job included.",
        bad="See the dashboard of the platform: nodes are idle, or jobs do not use their GPUs.",
        sources=("dcgm-exporter",),
        queries=(Query("avg(DCGM_FI_DEV_GPU_UTIL) / 100"),),
    ),
    Panel(
        title="Average run time (7 days)",
        unit="s",
        form=NUMBER,
        shows="From the last start to the end of the Jobs behind jobs that succeeded, without "
        "waiting; of a job that was evicted only the last attempt counts.",
        bad="It has no good value. A jump means that jobs of another kind run.",
        sources=_CLUSTER,
        queries=(Query(f"avg({_lasted('7d')})"),),
    ),
)

PODS = (
    Panel(
        title="Status",
        unit="short",
        shows="Pods of the job by phase. None: it waits in its queue, or it was evicted.",
        bad="Pending: see the table. Failed: read the logs of the first pod that ended.",
        sources=_CLUSTER,
        queries=(Query(f"count by (phase) ({of_job(_PHASE)})", "{{phase}}"),),
        alerts=("TrainyardJobFailed", "TrainyardPodUnschedulable"),
    ),
    Panel(
        title="Pods",
        unit="short",
        form=TABLE,
        columns=("pod", "phase", "node"),
        shows="Each pod of the job with its phase and node.",
        bad="A pod without a node finds none: `describe pod`. One that stays Pending on its node "
        "can't pull its image or mount its claim.",
        sources=_CLUSTER,
        queries=(
            Query(
                f"max by (pod, phase, node) (({of_job(_PHASE)}) "
                f"* on (namespace, pod) group_left (node) {_NODES})"
            ),
        ),
        alerts=("TrainyardPodCannotStart", "TrainyardPodUnschedulable"),
    ),
    Panel(
        title="GPU use by pod",
        unit="percentunit",
        shows="Part of the time in which the GPUs of each pod run a kernel.",
        bad="One pod is high and the others are low, or the reverse: the job waits for one rank. "
        "All low: data or the network is slow.",
        sources=_GPUS,
        queries=(Query(f"trainyard:pod:gpu_use{{{JOB}}}", "{{pod}}"),),
        alerts=("TrainyardGpuXid",),
    ),
    Panel(
        title="Bandwidth: pod network",
        unit="Bps",
        shows="Bytes that each pod sends over its network interfaces. Traffic by RDMA is not in "
        "it.",
        bad="If it is high and a fabric is there, MPI or NCCL fell back to TCP: see the "
        "variables of the runtime.",
        sources=_KUBELET,
        queries=(
            Query(
                _by_pod("rate(container_network_transmit_bytes_total{}[5m])", 'pod!=""'), "{{pod}}"
            ),
        ),
    ),
    Panel(
        title="Bandwidth: rails",
        unit="Bps",
        shows="Bytes that the rails of each pod send and receive, RDMA included.",
        bad="Zero while the job has several nodes: it does not use RDMA. One pod is low: see "
        "the rails' errors on the dashboard of the platform.",
        sources=("kube-state-metrics", SRIOV_METRICS),
        queries=(
            Query(f"sum by (pod) ({of_job(vf_traffic('tx'))})", "{{pod}}: sent"),
            Query(f"sum by (pod) ({of_job(vf_traffic('rx'))})", "{{pod}}: received"),
        ),
        alerts=("TrainyardRailDown", "TrainyardRailSlow"),
    ),
    Panel(
        title="Scaling efficiency",
        unit="percentunit",
        form=NUMBER,
        shows="Work per GPU of the job, of that of the job chosen as baseline: time in which the "
        "tensor cores compute, both within the time range. The baseline is the same program on "
        "fewer nodes.",
        bad="Below 80 %: see the rails, then the batch size per GPU.",
        sources=_GPUS,
        queries=(
            Query(f"{_PER_GPU.format(JOB)} / {_PER_GPU.format(JOB.replace('$job', '$baseline'))}"),
        ),
    ),
)

USE = (
    Panel(
        title="CPUs by pod",
        unit="short",
        shows="CPUs that each pod uses.",
        bad="At its limit: data loading holds up the GPUs. One pod at zero: its rank hangs.",
        sources=_KUBELET,
        queries=(Query(_by_pod("rate(container_cpu_usage_seconds_total{}[5m])"), "{{pod}}"),),
    ),
    Panel(
        title="Memory by pod",
        unit="bytes",
        shows="Memory of each pod that can't be reclaimed.",
        bad="It grows until the pod is killed: reduce the workers of the data loader.",
        sources=_KUBELET,
        queries=(Query(_by_pod("container_memory_working_set_bytes{}"), "{{pod}}"),),
    ),
    Panel(
        title="Disk of the node by pod",
        unit="Bps",
        shows="Bytes that each pod reads and writes on disks of its node. Files on NFS, Lustre, "
        "CephFS or an object store are network traffic and not in it.",
        bad="High: the job swaps data through the node's disk; use memory or a claim.",
        sources=_KUBELET,
        queries=tuple(
            Query(
                _by_pod(f"rate(container_fs_{what}_bytes_total{{}}[5m])", 'container=""'),
                f"{{{{pod}}}}: {what}",
            )
            for what in ("reads", "writes")
        ),
    ),
)

_OF_NAMESPACE = 'trainyard:pod:job{namespace="$namespace"}'

OVERVIEW = Dashboard(
    "job",
    "Job",
    (
        Variable("namespace", "Namespace", "trainyard:pod:job", "namespace"),
        Variable("job", "Job", _OF_NAMESPACE, "trainjob"),
        Variable("baseline", "Baseline", _OF_NAMESPACE, "trainjob"),
    ),
    (Row("Cluster", CLUSTER), Row("Job", PODS), Row("Use", USE)),
)
