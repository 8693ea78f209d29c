"""Alerts of Kueue: queues that stop, quota that nobody uses, jobs that lose their nodes.

Gauges are there once for each replica of Kueue, so the largest counts. Kueue 0.16.2 gives them
``replica_role="follower"`` also at the leader (kubernetes-sigs/kueue#9288), so no filter names it.
"""

from __future__ import annotations

from trainyard.render.alerts.alert import Alert, of_queue

_KUEUE = ("kueue",)
_QUEUE = "{cli} get clusterqueue QUEUE -o yaml"
_WORKLOADS = "{cli} get workloads --all-namespaces"
_LOGS = "{cli} -n {kueue} logs deployment/kueue-controller-manager --since 30m"
_README = (
    "The [README](README.md#take-nodes-out-of-use): whether nodes are in maintenance. A job that "
    "is larger than what is left starts when they are back."
)


def _evicted(reason: str, more_than: int) -> str:
    """Return queues whose evictions of one hour exceed a number.

    A counter begins at 1, so an increase misses the first event; then the new series counts.
    """
    metric = f'kueue_evicted_workloads_total{{reason="{reason}"}}'
    if more_than:
        return of_queue(f"sum by (cluster_queue) (increase({metric}[1h])) > {more_than}")
    first = f"sum by (cluster_queue) ({metric} unless {metric} offset 1h)"
    return of_queue(f"sum by (cluster_queue) (increase({metric}[1h])) > 0 or {first}")


ALERTS = (
    Alert(
        name="TrainyardClusterQueueInactive",
        sources=_KUEUE,
        expr=of_queue('max by (cluster_queue) (kueue_cluster_queue_status{status="active"}) == 0'),
        hold="5m",
        severity="critical",
        summary="ClusterQueue {{ $labels.cluster_queue }} admits no job",
        meaning="Kueue refuses to admit jobs of this queue, because something that the queue names "
        "is missing or the queue was stopped by hand. Running jobs stay.",
        look=(f"`{_QUEUE}`: the message of the condition `Active`.", "`{cli} get resourceflavors`"),
        fix=(
            "Sync `platform/`: a flavor or topology that the message names is an object of it.",
            "If `spec.stopPolicy` was set by hand, the sync reverts it.",
        ),
    ),
    Alert(
        name="TrainyardQuotaIdleWhileJobsWait",
        sources=_KUEUE,
        expr=of_queue(
            "trainyard:cluster_queue:used_ratio < 0.5 "
            "and on (cluster_queue) trainyard:cluster_queue:pending > 0"
        ),
        hold="1h",
        severity="warning",
        for_team=True,
        summary="Jobs of {{ $labels.cluster_queue }} wait for 1 h while half of its quota is idle",
        meaning="The queue uses less than half of its own quota of every resource, and a job of it "
        "waits. Either the job needs nodes below one switch that are not free together, or it asks "
        "for more than the queue can give, or nodes are down.",
        look=(
            f"`{_WORKLOADS}`: jobs of the queue without `RESERVED IN`.",
            "`{cli} -n NAMESPACE describe workload WORKLOAD`: the message of `QuotaReserved`.",
            "`trainyard fit JOB.yaml --cluster {cluster}`: whether the job can start at all.",
            _README,
        ),
        fix=(
            "If the message names a topology, wait for a job to end, or submit a smaller job.",
            "If nodes are missing, see [TrainyardPoolBelowQuota](#trainyardpoolbelowquota).",
        ),
    ),
    Alert(
        name="TrainyardQueueAdmitsNothing",
        sources=_KUEUE,
        expr=of_queue(
            "min_over_time(trainyard:cluster_queue:pending[12h]) > 0 "
            "and on (cluster_queue) trainyard:cluster_queue:pending offset 12h > 0 "
            "unless on (cluster_queue) "
            "sum by (cluster_queue) (increase(kueue_admitted_workloads_total[12h])) > 0"
        ),
        hold="15m",
        severity="warning",
        for_team=True,
        summary="Jobs wait in {{ $labels.cluster_queue }}, and none started for 12 h",
        meaning="Jobs waited at each moment of the last 12 hours, and Kueue admitted none of the "
        "queue. No metric has the age of a job that waits, so one job may wait for less.",
        look=(
            f"`{_WORKLOADS}`",
            f"`{_QUEUE}`: the use of each flavor.",
            "`{cli} -n NAMESPACE describe workload WORKLOAD`: why it waits.",
            _README,
        ),
        fix=(
            "If running jobs hold the quota, raise the quota or the priority of what waits.",
            "If the message says that the job exceeds the quota, it never starts: delete it.",
        ),
    ),
    Alert(
        name="TrainyardAdmissionStuck",
        sources=_KUEUE,
        expr="sum(trainyard:cluster_queue:pending_active) > 0 unless on () "
        "sum(increase(kueue_admission_attempts_total[15m])) > 0",
        hold="15m",
        severity="critical",
        summary="Kueue tries to admit nothing, and jobs wait",
        meaning="Jobs wait at the head of their queues, and Kueue's scheduler made no attempt for "
        "15 minutes. No job of any team starts.",
        look=("`{cli} -n {kueue} get pods`", f"`{_LOGS}`", "`{cli} -n {kueue} get leases`"),
        fix=("`{cli} -n {kueue} rollout restart deployment kueue-controller-manager`",),
    ),
    Alert(
        name="TrainyardAdmissionLoops",
        sources=_KUEUE,
        expr="sum(rate(kueue_admission_attempts_total[5m])) > 50",
        hold="15m",
        severity="warning",
        summary="Kueue tries to admit jobs more than 50 times a second",
        meaning="Kueue waits 100 ms after an attempt that changed nothing, so it makes about 10 a "
        "second. More means that it admits a job and takes that back, again and again "
        "(kubernetes-sigs/kueue#10783): that job waits without a condition or an event.",
        look=(f"`{_LOGS}`: the workload that is named in each line.", f"`{_WORKLOADS}`"),
        fix=("Delete the job that is named, and submit it with one node fewer.",),
    ),
    Alert(
        name="TrainyardPreemptionsHigh",
        sources=_KUEUE,
        expr=_evicted("Preempted", 10),
        severity="warning",
        for_team=True,
        summary="More than 10 jobs of {{ $labels.cluster_queue }} were preempted within 1 h",
        meaning="Jobs of this queue gave their nodes to others, because they borrowed them or have "
        "a lower priority. Each goes on from its last checkpoint.",
        look=(
            f"`{_WORKLOADS}`: those with `ADMITTED` False.",
            "`{cli} -n NAMESPACE describe workload WORKLOAD`: `Preempted` names by whom.",
        ),
        fix=(
            "Submit long jobs on the team's own nodes: `trainyard fit` shows which job borrows.",
            "Limit what the team may `borrow`, or give it more nodes.",
        ),
    ),
    Alert(
        name="TrainyardJobsNotReadyInTime",
        sources=_KUEUE,
        expr=_evicted("PodsReadyTimeout", 0),
        severity="warning",
        for_team=True,
        summary="A job of {{ $labels.cluster_queue }} was evicted, because its pods did not start",
        meaning="Kueue admitted a job, some pod of it was not ready in time, and Kueue put the job "
        "back into its queue. The nodes were held and did nothing.",
        look=(
            "`{cli} -n NAMESPACE get events --sort-by .lastTimestamp`",
            "`{cli} -n NAMESPACE get pods`",
        ),
        fix=(
            "If an image is missing, correct it in the job or runtime.",
            "If no node has room, see [TrainyardPodUnschedulable](#trainyardpodunschedulable).",
        ),
        feature="kueue-configuration",
    ),
    Alert(
        name="TrainyardJobsLostNodes",
        sources=_KUEUE,
        expr=_evicted("NodeFailures", 0),
        severity="warning",
        for_team=True,
        summary="A job of {{ $labels.cluster_queue }} was evicted, because a node of it failed",
        meaning="A node failed, and Kueue found no other for the job below its switch. The whole "
        "job was evicted, and it starts again from its last checkpoint.",
        look=(
            "`{cli} get nodes`",
            f"`{_WORKLOADS}`",
            "`{cli} -n NAMESPACE describe workload WORKLOAD`",
        ),
        fix=("Repair the node: see [TrainyardPoolBelowQuota](#trainyardpoolbelowquota).",),
    ),
)
