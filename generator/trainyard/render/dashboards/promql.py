"""Parts of queries that several panels share."""

from __future__ import annotations

from trainyard.render.alerts.alert import own

JOB = 'namespace="$namespace",trainjob="$job"'
"""Matchers of the job that the viewer chose."""

OWNED = 'kube_job_owner{owner_is_controller="true",owner_kind!="CronJob"}'
"""Jobs that a JobSet or an MPIJob owns."""


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


def of_team(expr: str, by: str) -> str:
    """Return series by queue or namespace, of the chosen team only."""
    of = {"cluster_queue": "trainyard:cluster_queue:team", "namespace": "trainyard:namespace:team"}
    return f'({expr}) and on ({by}) {of[by]}{{team="$team"}}'


def waited(quantile: str) -> str:
    """Return how long jobs waited that were admitted within an hour, by queue, seconds."""
    rate = "rate(kueue_admission_wait_time_seconds_bucket[1h])"
    return f"histogram_quantile({quantile}, sum by (cluster_queue, le) ({rate}))"
