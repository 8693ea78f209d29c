"""What `trainyard import` reads of a dump beside the table of facts; never asked of a cluster."""

from __future__ import annotations

from trainyard.model.facts import Resource
from trainyard.model.readable import TABLE

_KUBEFLOW = "kubeflow.org"
_REQUESTS = ("resources.limits", "resources.requests")

PODS = Resource(
    "",
    "v1",
    "pods",
    "Pod",
    (
        *(f"spec.containers.{field}" for field in _REQUESTS),
        *(f"spec.initContainers.{field}" for field in ("restartPolicy", *_REQUESTS)),
        *("spec.nodeName", "status.phase"),
    ),
)
"""Without images, commands and variables."""
BINDINGS = Resource(
    "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", ("roleRef", "subjects")
)
ROLES = Resource("rbac.authorization.k8s.io", "v1", "roles", "Role", ("rules.verbs",))
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", ("spec.hard", "status.used"))
CLAIMS = Resource(
    "",
    "v1",
    "persistentvolumeclaims",
    "PersistentVolumeClaim",
    (
        *("spec.accessModes", "spec.resources", "spec.selector", "spec.storageClassName"),
        *("spec.volumeAttributesClassName", "spec.volumeMode", "spec.volumeName", "status.phase"),
    ),
)
NETWORK_POLICIES = Resource(
    "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", ("spec.egress",)
)
JOBS = (
    Resource(_KUBEFLOW, "v1", "pytorchjobs", "PyTorchJob"),
    Resource(_KUBEFLOW, "v1", "tfjobs", "TFJob"),
    Resource(_KUBEFLOW, "v2beta1", "mpijobs", "MPIJob"),
    Resource(_KUBEFLOW, "v1", "notebooks", "Notebook"),
    Resource("ray.io", "v1", "rayclusters", "RayCluster"),
    Resource("ray.io", "v1", "rayjobs", "RayJob"),
)
"""Kinds of jobs that teams have beside TrainJobs; only their number is reported."""

_OWN = (PODS, BINDINGS, ROLES, QUOTAS, CLAIMS, NETWORK_POLICIES, *JOBS)

IMPORTED = (*_OWN, *(each for each in TABLE if not each.of_tree))
"""All that is read of a dump: of namespaces that no tree has, too. Secrets are not in it."""
