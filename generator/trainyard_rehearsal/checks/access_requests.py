"""Requests that every user sends in every namespace, as dry runs, to compare with their roles."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.model.space import Space
from trainyard_rehearsal.checks.jobs import KUEUE, TRAINER
from trainyard_rehearsal.checks.roles import GroupResource
from trainyard_rehearsal.control_plane.api import Api, Body


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A request that is sent as every user in every namespace.

    Args:
        part: subresource, e.g. ``status``; empty for the object itself.
        body: fields of the object besides its kind and name.
        name: of the object, which does not exist.
    """

    verb: str
    version: str
    kind: str
    part: str = ""
    body: Body = field(default_factory=dict)
    name: str = "rehearsal"

    def resource(self, api: Api) -> GroupResource:
        """Return the resource that a role must list to permit the request."""
        plural = api.resource(self.version, self.kind).plural
        group = self.version.rpartition("/")[0]
        return (group, f"{plural}/{self.part}" if self.part else plural)

    def send(self, api: Api, namespace: str) -> None:
        """Send the request, as a dry run.

        Raises:
            Refused: by authorization, admission or validation; or the object does not exist.
        """
        metadata = {"name": self.name}
        if namespace:
            metadata["namespace"] = namespace
        body = {
            "apiVersion": self.version,
            "kind": self.kind,
            **self.body,
            "metadata": {**self.body.get("metadata", {}), **metadata},
        }
        match self.verb:
            case "create":
                # A command has no dry run; its pod does not exist.
                api.create(body, self.part, dry_run=self.part != "exec")
            case "delete":
                api.delete(body, dry_run=True)
            case "get":
                api.get(self.version, self.kind, self.name, namespace)
            case "list":
                api.list(self.version, self.kind, namespace)
            case _:
                label = {"metadata": {"labels": {"rehearsal": "true"}}}
                api.patch(body, label, self.part, dry_run=True)


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


def config_map(space: Space, name: str = "rehearsal") -> Body:
    """Return an empty ConfigMap of a namespace."""
    metadata = {"name": name, "namespace": space.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def claim_spec(storage_class: str) -> Body:
    """Return the spec of a small claim of a storage class."""
    small = {"requests": {"storage": "1Mi"}}
    return {"accessModes": ["ReadWriteMany"], "resources": small, "storageClassName": storage_class}


def claim(storage_class: str) -> AccessRequest:
    """Return the request for a claim of a storage class that the team may use."""
    return AccessRequest(
        "create", "v1", "PersistentVolumeClaim", "", {"spec": claim_spec(storage_class)}
    )


POD_OF_A_JOB = "rehearsal-node-0-0-bcdfg"
"""Name of a pod as JobSet and Kubernetes make it."""

IN_NAMESPACES = (
    AccessRequest("create", "v1", "ConfigMap"),
    AccessRequest("patch", "v1", "ConfigMap"),
    AccessRequest("list", "v1", "ConfigMap"),
    AccessRequest("get", "v1", "Secret"),
    AccessRequest("list", "v1", "Secret"),
    AccessRequest("create", "v1", "Secret"),
    AccessRequest("create", "v1", "ServiceAccount", "token"),
    AccessRequest("create", "v1", "Pod", "", _PODS),
    AccessRequest("create", "v1", "Pod", "exec", name=POD_OF_A_JOB),
    AccessRequest("patch", "v1", "Pod", "ephemeralcontainers"),
    AccessRequest("delete", "v1", "Pod"),
    AccessRequest("list", "v1", "Pod"),
    AccessRequest("delete", "v1", "PersistentVolumeClaim"),
    AccessRequest("delete", "v1", "ResourceQuota"),
    AccessRequest("create", "v1", "Service", "", {"spec": {"ports": [{"port": 80}]}}),
    AccessRequest("create", "batch/v1", "Job", "", _JOB),
    AccessRequest("delete", "jobset.x-k8s.io/v1alpha2", "JobSet"),
    AccessRequest("delete", "networking.k8s.io/v1", "NetworkPolicy"),
    AccessRequest("create", _RBAC, "RoleBinding", "", _ROLE),
    AccessRequest("patch", _RBAC, "RoleBinding"),
    AccessRequest("create", _NETWORKS, "NetworkAttachmentDefinition"),
    AccessRequest("patch", _NETWORKS, "NetworkAttachmentDefinition"),
    AccessRequest("patch", KUEUE, "LocalQueue"),
    AccessRequest("patch", KUEUE, "Workload"),
    AccessRequest("patch", KUEUE, "Workload", "status"),
    AccessRequest("delete", KUEUE, "Workload"),
    AccessRequest("delete", TRAINER, "TrainJob"),
    AccessRequest("patch", TRAINER, "TrainJob"),
    AccessRequest("patch", TRAINER, "TrainJob", "status"),
    AccessRequest("delete", TRAINER, "TrainingRuntime"),
)
CLUSTER_WIDE = (
    AccessRequest("patch", "v1", "Namespace"),
    AccessRequest("patch", "v1", "Node"),
    AccessRequest("create", "v1", "PersistentVolume", "", {"spec": {"hostPath": {"path": "/"}}}),
    AccessRequest("patch", KUEUE, "ClusterQueue"),
    AccessRequest("patch", KUEUE, "Cohort"),
    AccessRequest("patch", KUEUE, "ResourceFlavor"),
    AccessRequest("list", KUEUE, "ResourceFlavor"),
    AccessRequest("list", KUEUE, "ClusterQueue"),
    AccessRequest("patch", TRAINER, "ClusterTrainingRuntime"),
    AccessRequest("list", TRAINER, "ClusterTrainingRuntime"),
    AccessRequest("create", _RBAC, "ClusterRoleBinding", "", _ROLE),
    AccessRequest("delete", "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
    AccessRequest("delete", "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
)
