"""Which command converts a kind of job, and what a kind is that none converts."""

from __future__ import annotations

from trainyard_jobs.convert.model import Body
from trainyard_jobs.convert.mpijob.job import is_mpijob
from trainyard_jobs.convert.pytorchjob import is_pytorchjob

_ONE_ROLE = "Trainer has no runtime for it here: keep its operator, or start the ranks with MPI"
_RAY = (
    "a Ray cluster starts its own processes and has no counterpart in a TrainJob: run it with "
    "KubeRay, or start the program's ranks with torchrun"
)
_KINDS = {
    ("batch", "Job"): (
        "a Job's pods don't know each other: if one pod is enough, `trainyard job --nodes 1 -- "
        "COMMAND` writes a TrainJob that runs its command"
    ),
    ("batch", "CronJob"): "a TrainJob starts once: let the CronJob create one, from a pipeline",
    ("jobset.x-k8s.io", "JobSet"): (
        "Trainer makes a JobSet of each TrainJob: `trainyard job -- COMMAND` writes one for your "
        "team's runtime"
    ),
    ("kubeflow.org", "TFJob"): _ONE_ROLE,
    ("kubeflow.org", "JAXJob"): _ONE_ROLE,
    ("kubeflow.org", "PaddleJob"): _ONE_ROLE,
    ("kubeflow.org", "XGBoostJob"): _ONE_ROLE,
    ("ray.io", "RayCluster"): _RAY,
    ("ray.io", "RayJob"): _RAY,
    ("ray.io", "RayService"): "it serves requests without end, and a TrainJob ends",
    ("batch.volcano.sh", "Job"): (
        "Volcano's tasks have no counterpart: give the command of its ranks to `trainyard job`"
    ),
}
"""What to do about a job of a group and kind."""
_TRAINER = "trainer.kubeflow.org"


def door(body: Body) -> str:
    """Return what to do with a job that is not a TrainJob of ours; empty for another object."""
    version, kind = str(body.get("apiVersion", "")), str(body.get("kind", ""))
    if is_mpijob(body):
        return "`trainyard convert mpijob` makes a TrainJob of it"
    if is_pytorchjob(body):
        return "`trainyard convert pytorchjob` makes a TrainJob of it"
    group = version.partition("/")[0]
    if kind == "TrainJob" and group in {_TRAINER, "kubeflow.org"}:
        return (
            f"apiVersion {version} is none that the cluster has: {_TRAINER}/v1alpha1 is; "
            "`trainyard job` writes such a TrainJob"
        )
    return _KINDS.get((group, kind), "")
