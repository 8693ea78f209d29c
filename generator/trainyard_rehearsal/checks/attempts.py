"""Requests that everybody makes everywhere, as dry runs: refused by their role, or let through admission as well."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard_rehearsal.checks.jobs import KUEUE, TRAINER
from trainyard_rehearsal.checks.roles import Resource
from trainyard_rehearsal.control_plane.api import Api, Body


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that is made as everybody, in every place.

    Args:
        body: of the object, beside its kind and name.
    """

    verb: str
    version: str
    kind: str
    part: str = ""
    body: Body = field(default_factory=dict)

    def resource(self, api: Api) -> Resource:
        """Return what a role would have to name."""
        plural = api.resource(self.version, self.kind).plural
        group = self.version.rpartition("/")[0]
        return (group, f"{plural}/{self.part}" if self.part else plural)

    def send(self, api: Api, namespace: str) -> None:
        """Make the request, as a dry run.

        Raises:
            Refused: by authorization, admission or validation; or the object is not there.
        """
        metadata = {"name": "rehearsal", **({"namespace": namespace} if namespace else {})}
        body = {
            "apiVersion": self.version,
            "kind": self.kind,
            **self.body,
            "metadata": {**self.body.get("metadata", {}), **metadata},
        }
        match self.verb:
            case "create":
                api.create(body, self.part, dry_run=True)
            case "delete":
                api.delete(body, dry_run=True)
            case "get":
                api.get(self.version, self.kind, "rehearsal", namespace)
            case "list":
                api.list(self.version, self.kind, namespace)
            case _:
                api.patch(
                    body, {"metadata": {"labels": {"rehearsal": "true"}}}, self.part, dry_run=True
                )


_RBAC = "rbac.authorization.k8s.io/v1"
_NETWORKS = "k8s.cni.cncf.io/v1"
_PODS: Body = {"spec": {"containers": [{"name": "node", "image": "example.com/image"}]}}
_JOB: Body = {"spec": {"template": {"spec": {**_PODS["spec"], "restartPolicy": "Never"}}}}
_ROLE: Body = {
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    }
}


def claim_spec(storage_class: str) -> Body:
    """Return the spec of a small claim of a class."""
    small = {"requests": {"storage": "1Mi"}}
    return {"accessModes": ["ReadWriteMany"], "resources": small, "storageClassName": storage_class}


def claim(storage_class: str) -> Attempt:
    """Return the request for a claim of a class; ``tenant_objects`` tries those that a policy refuses."""
    return Attempt("create", "v1", "PersistentVolumeClaim", "", {"spec": claim_spec(storage_class)})


IN_A_NAMESPACE = (
    Attempt("create", "v1", "ConfigMap"),
    Attempt("patch", "v1", "ConfigMap"),
    Attempt("list", "v1", "ConfigMap"),
    Attempt("get", "v1", "Secret"),
    Attempt("list", "v1", "Secret"),
    Attempt("create", "v1", "Secret"),
    Attempt("create", "v1", "ServiceAccount", "token"),
    Attempt("create", "v1", "Pod", "", _PODS),
    Attempt("create", "v1", "Pod", "exec"),
    Attempt("patch", "v1", "Pod", "ephemeralcontainers"),
    Attempt("delete", "v1", "Pod"),
    Attempt("list", "v1", "Pod"),
    Attempt("delete", "v1", "PersistentVolumeClaim"),
    Attempt("delete", "v1", "ResourceQuota"),
    Attempt("create", "v1", "Service", "", {"spec": {"ports": [{"port": 80}]}}),
    Attempt("create", "batch/v1", "Job", "", _JOB),
    Attempt("delete", "jobset.x-k8s.io/v1alpha2", "JobSet"),
    Attempt("delete", "networking.k8s.io/v1", "NetworkPolicy"),
    Attempt("create", _RBAC, "RoleBinding", "", _ROLE),
    Attempt("patch", _RBAC, "RoleBinding"),
    Attempt("create", _NETWORKS, "NetworkAttachmentDefinition"),
    Attempt("patch", _NETWORKS, "NetworkAttachmentDefinition"),
    Attempt("patch", KUEUE, "LocalQueue"),
    Attempt("patch", KUEUE, "Workload"),
    Attempt("patch", KUEUE, "Workload", "status"),
    Attempt("delete", KUEUE, "Workload"),
    Attempt("delete", TRAINER, "TrainJob"),
    Attempt("patch", TRAINER, "TrainJob"),
    Attempt("patch", TRAINER, "TrainJob", "status"),
    Attempt("create", TRAINER, "TrainingRuntime"),
)
WIDE = (
    Attempt("patch", "v1", "Namespace"),
    Attempt("patch", "v1", "Node"),
    Attempt("create", "v1", "PersistentVolume", "", {"spec": {"hostPath": {"path": "/"}}}),
    Attempt("patch", KUEUE, "ClusterQueue"),
    Attempt("patch", KUEUE, "Cohort"),
    Attempt("patch", KUEUE, "ResourceFlavor"),
    Attempt("list", KUEUE, "ResourceFlavor"),
    Attempt("list", KUEUE, "ClusterQueue"),
    Attempt("patch", TRAINER, "ClusterTrainingRuntime"),
    Attempt("list", TRAINER, "ClusterTrainingRuntime"),
    Attempt("create", _RBAC, "ClusterRoleBinding", "", _ROLE),
    Attempt("delete", "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
    Attempt("delete", "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
)
