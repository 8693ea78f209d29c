"""What it means that a TrainJob lacks a field of an MPIJob.

Sources: kubeflow/mpi-operator:pkg/apis/kubeflow/v2beta1/types.go and
pkg/controller/mpi_job_controller.go @v0.8.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.mpijob.fields import Path

ROLES: Final = ("Launcher", "Worker")
REPLICAS: Final = ("spec", "mpiReplicaSpecs")

Meaning = tuple[Kind, str]

_PLACED = (Kind.DROPPED, "Kueue and the runtime place the pods")
_SELECTED = (
    Kind.DROPPED,
    "Kueue and the runtime place the pods; choose a runtime on the nodes that it means",
)
_NAMED = (Kind.DROPPED, "JobSet names the pods; nodes are in /etc/mpi/hostfile")
_SECURED = (
    Kind.DROPPED,
    "the platform sets it: a user id of the namespace, no root and no capability",
)
_PROBED = (Kind.DROPPED, "the runtime probes the sshd of its nodes")
_CONNECTED = (Kind.DROPPED, "the runtime attaches every pod to the rails of its fabric")
_GANG = (Kind.DROPPED, "Kueue starts all pods of a job or none")
_OTHER = (Kind.DROPPED, "a TrainJob has no such field")
_POD_LABEL = (
    Kind.DROPPED,
    "pods have the labels of the runtime: change what selects pods by this one",
)
_POD_ANNOTATION = (Kind.DROPPED, "annotations of pods are the runtime's")
_OWNED = (Kind.DROPPED, "whoever creates the TrainJob owns it")

_OF_JOB: Mapping[str, Meaning] = {
    "metadata.finalizers": (
        Kind.DROPPED,
        "the controller that removes it does not watch TrainJobs",
    ),
    "metadata.ownerReferences": _OWNED,
    "spec.cleanPodPolicy": (Kind.DROPPED, "all pods end with the launcher and free their GPUs"),
    "spec.runPolicy.cleanPodPolicy": (
        Kind.DROPPED,
        "all pods end with the launcher and free their GPUs",
    ),
    "spec.runPolicy.managedBy": (Kind.DROPPED, "the platform manages every TrainJob"),
    "spec.runPolicy.schedulingPolicy.minAvailable": _GANG,
    "spec.runPolicy.schedulingPolicy.minResources": _GANG,
    "spec.runPolicy.schedulingPolicy.queue": (
        Kind.DROPPED,
        "a queue of Volcano; Kueue's has its own name",
    ),
    "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds": _GANG,
    "spec.runPolicy.ttlSecondsAfterFinished": (
        Kind.DROPPED,
        "the cluster's `finishedJobs` decides when finished jobs are deleted",
    ),
    "spec.sshAuthMountPath": (Kind.DROPPED, "the keys are in /home/mpiuser/.ssh"),
}
_OF_POD: Mapping[str, Meaning] = {
    "affinity": _SELECTED,
    "automountServiceAccountToken": (Kind.DROPPED, "pods have no token of a service account"),
    "dnsConfig": _NAMED,
    "dnsPolicy": _NAMED,
    "hostAliases": _NAMED,
    "hostIPC": _SECURED,
    "hostNetwork": (
        Kind.DROPPED,
        "pods have a network of their own, and the rails of the runtime's fabric",
    ),
    "hostPID": _SECURED,
    "hostname": _NAMED,
    "imagePullSecrets": (Kind.DROPPED, "the runtime's `pullSecret` is used"),
    "initContainers": (
        Kind.CHOOSE,
        "it does not run: move its work into the command, the image or a runtime's `initialize`",
    ),
    "nodeName": _SELECTED,
    "nodeSelector": _SELECTED,
    "preemptionPolicy": _PLACED,
    "priority": _PLACED,
    "restartPolicy": (Kind.DROPPED, "the operator ignored it there; no container starts again"),
    "runtimeClassName": _PLACED,
    "schedulerName": _PLACED,
    "securityContext": _SECURED,
    "serviceAccount": (Kind.DROPPED, "pods run as the service account of the runtime"),
    "serviceAccountName": (Kind.DROPPED, "pods run as the service account of the runtime"),
    "setHostnameAsFQDN": _NAMED,
    "subdomain": _NAMED,
    "tolerations": _PLACED,
    "topologySpreadConstraints": _PLACED,
}
_OF_CONTAINER: Mapping[str, Meaning] = {
    "envFrom": (
        Kind.CHOOSE,
        "a TrainJob has no envFrom: write each variable as `env` with a `valueFrom`",
    ),
    "imagePullPolicy": (Kind.DROPPED, "the runtime's is IfNotPresent"),
    "lifecycle": (Kind.CHOOSE, "it does not run: move it into the command or the image"),
    "livenessProbe": _PROBED,
    "ports": (Kind.DROPPED, "only the sshd of the runtime has a port, 2222"),
    "readinessProbe": _PROBED,
    "securityContext": _SECURED,
    "startupProbe": _PROBED,
    "stdin": (Kind.DROPPED, "pods of a TrainJob have no terminal"),
    "tty": (Kind.DROPPED, "pods of a TrainJob have no terminal"),
    "workingDir": (Kind.DROPPED, "ranks start in the folder of the launcher"),
}
_SIDECAR: Meaning = (
    Kind.CHOOSE,
    "a second container does not run: start it from the command, or leave it out",
)


def meaning_of(path: Path) -> Meaning:
    """Return what it means that a TrainJob lacks the field at a path of an MPIJob."""
    inside = _in_template(path)
    if not inside:
        return _OF_JOB.get(_dotted(path), _OTHER)
    if inside[0] == "metadata":
        return _of_metadata(inside)
    pod = inside[1:]
    if pod[:1] == ("containers",):
        return _SIDECAR if len(pod) <= 2 else _OF_CONTAINER.get(_dotted(pod[2:]), _OTHER)
    return _OF_POD.get(_dotted(pod[:1]), _OTHER)


def _of_metadata(inside: Path) -> Meaning:
    if inside[:2] == ("metadata", "labels"):
        return _POD_LABEL
    key = str(inside[-1])
    if key.startswith("k8s.v1.cni.cncf.io/"):
        return _CONNECTED
    if "istio.io/" in key:
        return Kind.DROPPED, "keep the namespace out of the mesh: a proxy would never let a job end"
    return _POD_ANNOTATION


def shown(path: Path) -> str:
    """Return a path for a reader: short, with the role in front."""
    inside = _in_template(path)
    if inside:
        rest = inside[1:] if inside[0] == "spec" else inside
        return f"{path[2]}: {_written(rest)}"
    if path[:2] == REPLICAS:
        return f"{path[2]}: {_written(path[3:])}" if len(path) > 3 else str(path[2])
    return _written(path[1:] if path[0] == "spec" else path)


def _in_template(path: Path) -> Path:
    """Return the part of a path that is inside the pod template of a role; empty for another."""
    is_there = path[:2] == REPLICAS and path[3:4] == ("template",) and len(path) > 4
    return path[4:] if is_there else ()


def _dotted(path: Path) -> str:
    return ".".join(str(step) for step in path if isinstance(step, str))


def _written(path: Path) -> str:
    text = ""
    for step in path:
        if isinstance(step, int) or "." in step or "/" in step:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
