"""Alerts of jobs: they failed, hold nodes without running, or are too many."""

from __future__ import annotations

from trainyard.model.names import FINISHED_JOBS, SYSTEM_NAMESPACE
from trainyard.render.alerts.alert import Alert, of_namespace, own

_CLUSTER = ("kube-state-metrics",)
_PODS = "{cli} -n NAMESPACE get pods -o wide"
_FAILED = own("jobset_failed_total", "namespace")
_REASONS = (
    "CreateContainerConfigError|CreateContainerError|ErrImagePull|ImagePullBackOff|InvalidImageName"
)
_GPU = "trainyard:gpu:used_percent"
_LOGS = (
    "`{cli} -n NAMESPACE logs --selector jobset.sigs.k8s.io/jobset-name=JOB --tail 50`",
    f"The metric `{_GPU}` has the pod and number of each GPU.",
)
_CLEAN_UP = f'{{namespace="{SYSTEM_NAMESPACE}",cronjob="{FINISHED_JOBS}"}}'
_SUCCESS = f"kube_cronjob_status_last_successful_time{_CLEAN_UP}"
_SCHEDULED = f"kube_cronjob_status_last_schedule_time{_CLEAN_UP}"
_COUNT = "count/trainjobs.trainer.kubeflow.org"


def _waiting(metric: str) -> str:
    return f'kube_pod_{metric}_status_waiting_reason{{reason=~"{_REASONS}"}}'


def _quota(kind: str) -> str:
    return f'max by (namespace) (kube_resourcequota{{resource="{_COUNT}",type="{kind}"}})'


ALERTS = (
    Alert(
        name="TrainyardJobFailed",
        sources=("jobset",),
        # A series for each job, which begins with 1 and never changes.
        expr=of_namespace(
            f"sum by (namespace, jobset_name) ({_FAILED}) unless on (namespace, jobset_name) "
            f"sum by (namespace, jobset_name) ({_FAILED.replace('_total', '_total offset 15m')})"
        ),
        severity="info",
        for_team=True,
        summary="Job {{ $labels.jobset_name }} of {{ $labels.namespace }} failed",
        meaning="A pod of the job failed, and the job has no restart left. Its nodes are free "
        "again. The alert ends by itself after 15 minutes.",
        look=(
            "`{cli} -n NAMESPACE describe trainjob JOB`",
            "`{cli} -n NAMESPACE logs --selector jobset.sigs.k8s.io/jobset-name=JOB --tail 50`",
        ),
        fix=("Its owner corrects the program and submits it again.",),
    ),
    Alert(
        name="TrainyardPodCannotStart",
        sources=_CLUSTER,
        expr=of_namespace(
            "count by (namespace, reason) (max by (namespace, pod, reason) "
            f"({_waiting('container')} or {_waiting('init_container')}) == 1)"
        ),
        hold="15m",
        severity="warning",
        for_team=True,
        summary="Pods of {{ $labels.namespace }} do not start: {{ $labels.reason }}",
        meaning="A container can't be created, so the job waits and holds the nodes of all its "
        "pods. Nothing ends it by itself where Kueue has no limit for that.",
        look=(
            f"`{_PODS}`",
            "`{cli} -n NAMESPACE describe pod POD`: its last events.",
            "Label `jobset.sigs.k8s.io/jobset-name` of the pod is the name of its job.",
        ),
        fix=(
            "Correct the image, Secret or ConfigMap that the event names.",
            "Else free its nodes: `{cli} -n NAMESPACE delete trainjob JOB`.",
        ),
    ),
    Alert(
        name="TrainyardPodUnschedulable",
        sources=_CLUSTER,
        expr=of_namespace(
            "count by (namespace) (max by (namespace, pod) (kube_pod_status_unschedulable) == 1)"
        ),
        hold="30m",
        severity="warning",
        for_team=True,
        summary="Pods of {{ $labels.namespace }} find no node for 30 min",
        meaning="No node has room for some pod of the namespace. If the pod is of a job, Kueue "
        "admitted the job by its quota, and its other pods hold their nodes. A workbench waits "
        "and holds nothing.",
        look=(
            f"`{_PODS}`",
            "`{cli} -n NAMESPACE describe pod POD`: the scheduler's reason.",
            "`{cli} describe node NODE`: what else runs there.",
        ),
        fix=(
            "If nodes have less than the profile states, correct `system` of the hardware profile.",
            "If pods of others are on the nodes, remove them: only jobs tolerate the taint.",
        ),
    ),
    Alert(
        name="TrainyardGpuIdleInJob",
        sources=("dcgm-exporter", *_CLUSTER),
        expr=of_namespace(
            f"count by (namespace, trainjob) ({_GPU} < 5 and on (namespace, trainjob) {_GPU} > 50)"
        ),
        hold="30m",
        severity="warning",
        for_team=True,
        summary="{{ $value }} GPUs of job {{ $labels.trainjob }} of {{ $labels.namespace }} are "
        "idle while others of it work",
        meaning="Some GPUs of a job are below 5 % and others above 50 % for 30 minutes. A rank "
        "hangs, has no data, or does not use its GPUs.",
        look=(
            f"The metric `{_GPU}` has the pod and number of each GPU.",
            "`{cli} -n NAMESPACE logs POD --tail 50`",
        ),
        fix=(
            "If the job needs fewer GPUs, its owner asks for fewer.",
            "If a rank hangs, its owner ends the job. It begins anew from its last checkpoint.",
        ),
    ),
    Alert(
        name="TrainyardJobIdle",
        sources=("dcgm-exporter", *_CLUSTER),
        expr=of_namespace(f"max by (namespace, trainjob) ({_GPU}) < 5"),
        hold="1h",
        severity="warning",
        for_team=True,
        summary="All GPUs of job {{ $labels.trainjob }} of {{ $labels.namespace }} are idle for "
        "1 h",
        meaning="No GPU of the job was used for more than 5 % of the time. The job waits for its "
        "data, hangs before it begins, or was forgotten. Others can't have its nodes.",
        look=_LOGS,
        fix=(
            "If it loads data, its owner loads it before the job, or in parts while it trains.",
            "Else its owner ends it: `{cli} -n NAMESPACE delete trainjob JOB`.",
        ),
    ),
    Alert(
        name="TrainyardJobSpins",
        sources=("dcgm-exporter", *_CLUSTER),
        expr=of_namespace(
            f"min by (namespace, trainjob) ({_GPU}) > 99 and on (namespace, trainjob) "
            "max by (namespace, trainjob) (trainyard:pod:tensor_active) < 0.001"
        ),
        hold="30m",
        severity="warning",
        for_team=True,
        summary="Job {{ $labels.trainjob }} of {{ $labels.namespace }} keeps its GPUs busy for "
        "30 min, and no tensor core works",
        meaning="A kernel runs on each GPU of the job all the time, and no tensor core computes. A "
        "collective of NCCL that waits for a rank looks so: the job hangs. So does a program that "
        "does not multiply matrices, which is not a fault.",
        look=(
            *_LOGS,
            "The rails of its nodes: [TrainyardRailDown](#trainyardraildown).",
        ),
        fix=(
            (
                "If it hangs, its owner ends it: `{cli} -n NAMESPACE delete trainjob JOB`. It "
                "begins anew from its last checkpoint."
            ),
            (
                "If all jobs of the cluster compute without tensor cores, state "
                "`severity: {{TrainyardJobSpins: info}}` in `monitoring` of the cluster."
            ),
        ),
    ),
    Alert(
        name="TrainyardCleanUpFails",
        sources=_CLUSTER,
        expr=f"max by (namespace, cronjob) (time() - {_SUCCESS}) > 5400 or "
        f"max by (namespace, cronjob) ({_SCHEDULED} unless on (namespace, cronjob) {_SUCCESS})",
        hold="2h",
        severity="warning",
        summary="Finished jobs are not deleted: CronJob {{ $labels.cronjob }} fails",
        meaning="The clean-up runs each hour and did not succeed for hours. Finished jobs stay, "
        "until the namespaces of teams are full and no job can be created. On OpenShift no rule of "
        "its own looks at this namespace.",
        look=(
            "`{cli} -n NAMESPACE get jobs,pods`",
            (
                "`{cli} -n NAMESPACE logs POD`: the namespaces and jobs that it could not read or "
                "delete."
            ),
            "`{cli} -n NAMESPACE describe pod POD`: whether its image can be pulled.",
        ),
        fix=(
            "Correct `finishedJobs.image` or its `pullSecret` in the cluster's profile.",
            "If the API server refused it, sync `platform/`: its role is an object of it.",
            "If it ran out of memory or time, delete the largest jobs by hand.",
        ),
        feature=FINISHED_JOBS,
    ),
    Alert(
        name="TrainyardTrainJobsNearQuota",
        sources=_CLUSTER,
        expr=of_namespace(f"{_quota('used')} / {_quota('hard')} > 0.9"),
        hold="15m",
        severity="warning",
        for_team=True,
        summary="Namespace {{ $labels.namespace }} has almost as many TrainJobs as it may",
        meaning="The ResourceQuota counts finished jobs too. When it is full, no job is created.",
        look=("`{cli} -n NAMESPACE get trainjobs`",),
        fix=(
            "Delete finished jobs: `{cli} -n NAMESPACE delete trainjob JOB`.",
            "Shorten `finishedJobs.keep` of the cluster, or set it.",
        ),
    ),
)
