"""Parts of queries that several panels share."""

from __future__ import annotations

from trainyard.render.alerts.alert import own

JOB = 'namespace="$namespace",trainjob="$job"'
"""Matchers of the job that the viewer chose."""


def ended(metric: str, within: str) -> str:
    """Return the JobSets that ended within some time, by namespace and name.

    JobSet writes a series for each, which begins with 1 and stays, so an increase is always 0.
    """
    before = own(f"{metric} offset {within}", "namespace")
    return (
        f"max by (namespace, jobset_name) ({own(metric, 'namespace')}) "
        f"unless on (namespace, jobset_name) {before}"
    )


def of_job(expr: str) -> str:
    """Return series by namespace and pod, of the pods of the chosen job only."""
    return f"({expr}) and on (namespace, pod) trainyard:pod:job{{{JOB}}}"


def vf_traffic(direction: str) -> str:
    """Return the traffic of each virtual function in a pod, bytes a second.

    The labels are those of the pod and ``dev_type``, the resource of the rail. The counters of the
    port that it is a part of leave it out (linux:drivers/infiniband/hw/mlx5/mad.c).
    """
    given = own("sriov_kubepoddevice", "namespace", "pod")
    return (
        f"rate(sriov_vf_{direction}_bytes[5m]) * on (node, pciAddr) "
        "group_left (namespace, pod, dev_type) "
        f"max by (node, pciAddr, namespace, pod, dev_type) ({given})"
    )


def with_team(expr: str) -> str:
    """Return series by queue with the label of its team; of stopped queues too."""
    return f"({expr}) * on (cluster_queue) group_left (team) trainyard:cluster_queue:team"


def of_team(expr: str, by: str) -> str:
    """Return series by queue or namespace, of the chosen team only."""
    of = {"cluster_queue": "trainyard:cluster_queue:team", "namespace": "trainyard:namespace:team"}
    return f'({expr}) and on ({by}) {of[by]}{{team="$team"}}'


def waited(quantile: str) -> str:
    """Return how long jobs waited that were admitted within an hour, by queue, seconds."""
    rate = "rate(kueue_admission_wait_time_seconds_bucket[1h])"
    return f"histogram_quantile({quantile}, sum by (cluster_queue, le) ({rate}))"
