"""What it means that a TrainJob lacks a field of an MPIJob or a PyTorchJob.

Sources: kubeflow/mpi-operator:pkg/apis/kubeflow/v2beta1/types.go and
pkg/controller/mpi_job_controller.go @v0.8.2.
"""

from __future__ import annotations

from typing import Final

from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.mpijob.fields import KINDS, Path
from trainyard_jobs.convert.words import words

_REPLICAS: Final = frozenset(("spec", kind.replicas) for kind in KINDS)

_PLACED = "Kueue and the runtime place the pods"
_SELECTED = f"{_PLACED}; choose a runtime on the nodes that it means"
_NAMED = "JobSet names the pods; nodes are in /etc/mpi/hostfile"
_SECURED = "the platform sets it: a user id of the namespace, no root and no capability"
_PROBED = "the runtime probes the sshd of its nodes"
_GANG = "Kueue starts all pods of a job or none"
_CLEANED = "all pods end with the job and free their GPUs"
_OTHER = "a TrainJob has no such field"
_POD_LABEL = "pods have the labels of the runtime: change what selects pods by this one"

_OF_JOB = {
    "metadata.finalizers": "the controller that removes it does not watch TrainJobs",
    "metadata.ownerReferences": "whoever creates the TrainJob owns it",
    "spec.cleanPodPolicy": _CLEANED,
    "spec.runPolicy.cleanPodPolicy": _CLEANED,
    "spec.runPolicy.managedBy": "the platform manages every TrainJob",
    "spec.runPolicy.schedulingPolicy.minAvailable": _GANG,
    "spec.runPolicy.schedulingPolicy.minResources": _GANG,
    "spec.runPolicy.schedulingPolicy.queue": "a queue of Volcano; Kueue's has its own name",
    "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds": _GANG,
    "spec.runPolicy.ttlSecondsAfterFinished": (
        "the cluster's `finishedJobs` decides when finished jobs are deleted"
    ),
    "spec.elasticPolicy": "a job has a fixed number of nodes, and Trainer gives the place to meet",
    "spec.sshAuthMountPath": "the keys are in /home/mpiuser/.ssh",
}
_OF_POD = {
    **dict.fromkeys(words("affinity nodeName nodeSelector"), _SELECTED),
    **dict.fromkeys(
        words("dnsConfig dnsPolicy hostAliases hostname setHostnameAsFQDN subdomain"), _NAMED
    ),
    **dict.fromkeys(words("hostIPC hostPID securityContext"), _SECURED),
    **dict.fromkeys(
        words(
            """
            preemptionPolicy priority runtimeClassName schedulerName tolerations
            topologySpreadConstraints
            """
        ),
        _PLACED,
    ),
    **dict.fromkeys(
        words("serviceAccount serviceAccountName"),
        "pods run as the service account of the runtime",
    ),
    **dict.fromkeys(
        words("containers.livenessProbe containers.readinessProbe containers.startupProbe"),
        _PROBED,
    ),
    **dict.fromkeys(
        words("containers.stdin containers.tty"), "pods of a TrainJob have no terminal"
    ),
    "containers.imagePullPolicy": "the runtime's is IfNotPresent",
    "containers.ports": "only the sshd of the runtime has a port, 2222",
    "containers.securityContext": _SECURED,
    "containers.workingDir": "ranks start in the folder of the launcher",
    "automountServiceAccountToken": "pods have no token of a service account",
    "hostNetwork": "pods have a network of their own, and the rails of the runtime's fabric",
    "imagePullSecrets": "the runtime's `pullSecret` is used",
    "restartPolicy": "the operator ignored it there; no container starts again",
}
_CHOICES = {
    "initContainers": (
        "it does not run: move its work into the command, the image or a runtime's `initialize`"
    ),
    "containers": "a second container does not run: start it from the command, or leave it out",
    "containers.envFrom": (
        "a TrainJob has no envFrom: write each variable as `env` with a `valueFrom`"
    ),
    "resourceClaims": "no TrainJob claims devices (DRA): its pods have the GPUs of the runtime",
    "containers.lifecycle": "it does not run: move it into the command or the image",
}
"""Fields about which the reader decides."""


def meaning_of(path: Path) -> tuple[Kind, str]:
    """Return what it means that a TrainJob lacks the field at a path of a job."""
    inside = _in_template(path)
    if not inside:
        return Kind.DROPPED, _OF_JOB.get(_dotted(path), _OTHER)
    if inside[0] == "metadata":
        return Kind.DROPPED, _of_metadata(inside)
    pod = inside[1:]
    name = _dotted(pod[:1])
    if name == "containers" and len(pod) > 2:
        name = f"containers.{_dotted(pod[2:])}"
    if name in _CHOICES:
        return Kind.CHOOSE, _CHOICES[name]
    return Kind.DROPPED, _OF_POD.get(name, _OTHER)


def _of_metadata(inside: Path) -> str:
    if inside[:2] == ("metadata", "labels"):
        return _POD_LABEL
    key = str(inside[-1])
    if key.startswith("k8s.v1.cni.cncf.io/"):
        return "the runtime attaches every pod to the rails of its fabric"
    if "istio.io/" in key:
        return "keep the namespace out of the mesh: a proxy would never let a job end"
    return "annotations of pods are the runtime's"


def shown(path: Path) -> str:
    """Return a path for a reader: short, with the role in front."""
    inside = _in_template(path)
    if inside:
        rest = inside[1:] if inside[0] == "spec" else inside
        return f"{path[2]}: {_written(rest)}"
    if path[:2] in _REPLICAS:
        return f"{path[2]}: {_written(path[3:])}" if len(path) > 3 else str(path[2])
    return _written(path[1:] if path[0] == "spec" else path)


def _in_template(path: Path) -> Path:
    """Return the part of a path that is inside the pod template of a role; empty for another."""
    is_there = path[:2] in _REPLICAS and path[3:4] == ("template",) and len(path) > 4
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
