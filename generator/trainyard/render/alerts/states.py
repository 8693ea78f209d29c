"""Alerts that only our configuration of kube-state-metrics (``monitoring/job-states``) permits.

No metric of Kueue has the age of a job that waits, and none of Trainer whether a job runs.
"""

from __future__ import annotations

from trainyard.model.monitoring import JOB_STATES
from trainyard.render.alerts.alert import (
    NO_PRIORITY,
    OPEN_QUEUES,
    Alert,
    of_namespace,
    with_namespace,
)

_STATES = (JOB_STATES,)
_TRAINJOB = 'admitted="True",job_kind="TrainJob"'
_WITHOUT = 'reserved="False"'
_UNTRIED = 'reserved=""'


def _parts(state: str) -> str:
    """Return the jobs with a part that has pods, and whose pods are all ready or not."""
    metric = f'trainyard_trainjob_part_ready{{active!="0"}} == {state}'
    return f"max by (namespace, job_name) ({with_namespace(f'({metric})', 'job_namespace')})"


def _since(metric: str, matchers: str) -> str:
    """Return the time of a change of the jobs that wait: neither ended nor stopped."""
    states = 'active!="false",finished!="True"'
    series = f"trainyard_workload_{metric}_timestamp_seconds{{{states},{matchers}}}"
    return with_namespace(series, "job_namespace")


_ADMITTED = f"max by (namespace, job_name) ({_since('created', _TRAINJOB)})"
# Kueue has not yet tried to admit a job without the condition; then its own age counts.
_WAITING = (
    f"max by (namespace, workload, priority) "
    f"(time() - {_since('quota', _WITHOUT)} or time() - {_since('created', _UNTRIED)})"
)


ALERTS = (
    Alert(
        name="TrainyardJobWaitsTooLong",
        sources=_STATES,
        expr=of_namespace(
            "count by (namespace, priority) (label_replace("
            f'{_WAITING}, "priority", "{NO_PRIORITY}", "priority", "") '
            "> on (priority) group_left () trainyard:priority:waiting_seconds)"
        )
        + f" and on (team) {OPEN_QUEUES}",
        hold="5m",
        severity="warning",
        for_team=True,
        summary="{{ $value }} jobs of {{ $labels.namespace }} with priority {{ $labels.priority }} "
        "wait longer than their limit",
        meaning="The jobs have no quota for longer than the cluster's `monitoring.waiting` allows "
        "for their priority, or 24h. An evicted job waits anew.",
        look=(
            "`{cli} -n NAMESPACE get workloads`: those without `RESERVED IN`.",
            "`{cli} -n NAMESPACE describe workload WORKLOAD`: the message of `QuotaReserved`.",
            "`trainyard fit JOB.yaml --cluster {cluster}`: whether the job can start at all.",
            "The limits of this cluster, by priority: {waiting}.",
        ),
        fix=(
            "If the queue is stopped, the team's page says why; no job starts until that ends.",
            "If the message says that the job exceeds the quota, the job never starts: delete it.",
            "If jobs of others hold the quota, raise the priority of the job or the team's quota.",
            "If nodes are missing, see [TrainyardPoolBelowQuota](#trainyardpoolbelowquota).",
        ),
    ),
    Alert(
        name="TrainyardJobNotRunning",
        sources=_STATES,
        expr=of_namespace(
            f"{_ADMITTED} unless on (namespace, job_name) "
            f"({_parts('1')} unless on (namespace, job_name) {_parts('0')})"
        ),
        hold="30m",
        severity="warning",
        for_team=True,
        summary="Job {{ $labels.job_name }} of {{ $labels.namespace }} is admitted and does not "
        "run for 30 min",
        meaning="Kueue admitted the job, so it holds its quota, and some pod of it is not ready or "
        "does not exist. The ranks wait for each other.",
        look=(
            "`{cli} -n NAMESPACE describe trainjob JOB`: `jobsStatus` and the events.",
            "`{cli} -n NAMESPACE get pods -o wide`",
            "`{cli} -n NAMESPACE get events --sort-by .lastTimestamp`",
        ),
        fix=(
            "If an image, Secret or claim is missing, correct it in the job or runtime.",
            "If a quota or a webhook refuses the pods, the event names it.",
            "Else free its nodes: `{cli} -n NAMESPACE delete trainjob JOB`.",
        ),
    ),
    Alert(
        name="TrainyardPoolPaused",
        sources=_STATES,
        expr="max by (pool) (trainyard_machine_config_pool_paused) == 1 "
        "and on (pool) trainyard:pool:promised_nodes",
        hold="1d",
        severity="info",
        summary="MachineConfigPool {{ $labels.pool }} is paused for a day",
        meaning="Its nodes take no configuration, so a merge that changes `nodes/` has no effect. "
        "Certificates of kubelet are not renewed either.",
        look=("`{cli} get machineconfigpool POOL -o yaml`: who changed `spec.paused`.",),
        fix=(
            "Set `spec.paused` to false.",
            "If a change waits, the nodes then drain and restart, one after the other.",
        ),
        feature="machine-config",
    ),
    Alert(
        name="TrainyardSriovSyncFailed",
        sources=_STATES,
        expr='max by (node) (trainyard_sriov_sync_failed{status="Failed"}) == 1 '
        "and on (node) trainyard:node:pool",
        hold="15m",
        severity="warning",
        summary="The SR-IOV operator can't set up node {{ $labels.node }}",
        meaning="The node lacks virtual functions that the profiles promise, or has them with old "
        "settings. Jobs that need them wait or can't start on it.",
        look=(
            "`{cli} -n {sriov} get sriovnetworknodestate NODE -o yaml`: `status.lastSyncError`.",
            "`{cli} -n {sriov} logs --selector app=sriov-network-config-daemon --since 30m`",
        ),
        fix=(
            "If the message names a device, compare the hardware profile with the node.",
            "If SR-IOV is off in the firmware of the node, have it switched on.",
        ),
        link="fabric",
    ),
)
