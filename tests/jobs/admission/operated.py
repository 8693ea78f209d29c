"""MPIJobs and PyTorchJobs as sites write them, with a queue's label and without."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]

_GPUS = {"limits": {"nvidia.com/gpu": 8}}
_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def _role(replicas: int, *command: str, **spec: Any) -> Body:
    container = {"name": spec.pop("name", "pytorch"), "image": "registry.corp.internal/torch:2"}
    if command:
        container["command"] = list(command)
    resources = {"resources": spec.pop("resources", _GPUS)}
    template = {"spec": {"containers": [{**container, **resources}], **spec}}
    return {"replicas": replicas, "restartPolicy": "OnFailure", "template": template}


def _job(kind: str, name: str, namespace: str, labels: dict[str, str], spec: Body) -> Body:
    version = {"MPIJob": "v2beta1", "PyTorchJob": "v1"}[kind]
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {
        "apiVersion": f"kubeflow.org/{version}",
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }


_TORCHRUN = ("torchrun", "--nnodes=2", "--nproc_per_node=8", "/opt/train.py")
_QUEUE = {"kueue.x-k8s.io/queue-name": "gpu"}

JOBS = {
    "PyTorchJob of a queue": _job(
        "PyTorchJob",
        "llm",
        "team-nlp",
        _QUEUE,
        {
            "runPolicy": {"suspend": True, "cleanPodPolicy": "None"},
            "pytorchReplicaSpecs": {
                "Master": _role(1, *_TORCHRUN, tolerations=[_TOLERATION]),
                "Worker": _role(1, *_TORCHRUN, tolerations=[_TOLERATION]),
            },
        },
    ),
    "PyTorchJob": _job(
        "PyTorchJob",
        "mnist",
        "team-nlp",
        {},
        {
            "pytorchReplicaSpecs": {
                "Master": _role(1, "python3", "/opt/mnist.py"),
                "Worker": _role(1, "python3", "/opt/mnist.py"),
            }
        },
    ),
    "MPIJob of a queue": _job(
        "MPIJob",
        "fold",
        "team-nlp",
        _QUEUE,
        {
            "slotsPerWorker": 8,
            "runPolicy": {"suspend": True, "cleanPodPolicy": "Running"},
            "mpiReplicaSpecs": {
                "Launcher": _role(1, "mpirun", "/opt/fold", name="main", resources={}),
                "Worker": _role(2, name="main", tolerations=[_TOLERATION]),
            },
        },
    ),
    "MPIJob": _job(
        "MPIJob",
        "pi",
        "team-nlp",
        {},
        {
            "mpiReplicaSpecs": {
                "Launcher": _role(1, "mpirun", "/opt/pi", name="main", resources={}),
                "Worker": _role(1, name="main"),
            }
        },
    ),
}
"""One of each kind that waits in a queue, and one that the site starts without Kueue."""

JOB_SET: Body = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "align", "namespace": "team-nlp", "labels": _QUEUE},
    "spec": {
        "suspend": True,
        "replicatedJobs": [
            {
                "name": "worker",
                "template": {"spec": {"parallelism": 2, **_role(1, tolerations=[_TOLERATION])}},
            }
        ],
    },
}
TRAIN_JOB: Body = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "asr", "namespace": "team-nlp", "labels": _QUEUE},
    "spec": {"suspend": True, "runtimeRef": {"name": "site-torch"}, "trainer": {"numNodes": 2}},
}
"""Both wait in a queue."""
