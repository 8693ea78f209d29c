"""The job that a pod belongs to, by what kube-state-metrics shows of its owners."""

from __future__ import annotations

from trainyard.model.platform import Site
from trainyard.render.alerts.alert import of_namespace

OWNED = 'kube_job_owner{owner_is_controller="true",owner_kind!="CronJob"}'
"""Jobs that a JobSet or an MPIJob owns."""


def job_of_pod(site: Site) -> str:
    """Return the job of each pod of our teams: by its Job and JobSet, or its MPIJob.

    A TrainJob and its JobSet have one name (kubeflow/trainer:pkg/runtime/framework/plugins/jobset).
    """
    named = '"trainjob", "$1", "owner_name", "(.+)"'
    jobs = f"max by (namespace, job_name, owner_name) ({OWNED})"
    pods = 'label_replace(kube_pod_owner{owner_kind="Job"}, "job_name", "$1", "owner_name", "(.+)")'
    of_jobs = (
        f"{pods} * on (namespace, job_name) group_left (trainjob) label_replace({jobs}, {named})"
    )
    if site.mpi_spaces:
        of_jobs += f' or label_replace(kube_pod_owner{{owner_kind="MPIJob"}}, {named})'
    return of_namespace(f"max by (namespace, pod, trainjob) ({of_jobs})")
