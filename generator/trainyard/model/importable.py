"""What `trainyard import` reads of a dump beside the table of facts; never asked of a cluster."""

from __future__ import annotations

from dataclasses import replace

from trainyard.model import readable
from trainyard.model.facts import Resource

_KUBEFLOW = "kubeflow.org"
_REQUESTS = ("resources.limits", "resources.requests")
_CONTAINERS = (
    *(f"containers.{field}" for field in _REQUESTS),
    *(f"initContainers.{field}" for field in ("restartPolicy", *_REQUESTS)),
)
_TEMPLATE = ("metadata.labels", *(f"spec.{field}" for field in _CONTAINERS))
_MADE = tuple(f"spec.template.{field}" for field in _TEMPLATE)

PODS = Resource(
    "",
    "v1",
    "pods",
    "Pod",
    (*(f"spec.{field}" for field in _CONTAINERS), "spec.nodeName", "status.phase"),
)
"""Without images, commands and variables."""
DEPLOYMENTS = replace(readable.DEPLOYMENTS, keep=(*readable.DEPLOYMENTS.keep, *_MADE))
STATEFUL_SETS = replace(readable.STATEFUL_SETS, keep=DEPLOYMENTS.keep)
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet", _MADE)
WORKLOADS = replace(
    readable.WORKLOADS,
    keep=(
        *(*readable.WORKLOADS.keep, "spec.podSets.count"),
        *(f"spec.podSets.template.spec.{field}" for field in _CONTAINERS),
    ),
)
PLAIN_JOBS = Resource(
    "batch", "v1", "jobs", "Job", (*_MADE, "status.conditions.type", "status.conditions.status")
)
CRON_JOBS = Resource(
    "batch", "v1", "cronjobs", "CronJob", tuple(f"spec.jobTemplate.{field}" for field in _MADE)
)
BINDINGS = Resource(
    "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", ("roleRef", "subjects")
)
ROLES = Resource("rbac.authorization.k8s.io", "v1", "roles", "Role", ("rules",))
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", ("spec.hard", "status.used"))
LIMITS = Resource("", "v1", "limitranges", "LimitRange", ("spec.limits",))
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
    "networking.k8s.io",
    "v1",
    "networkpolicies",
    "NetworkPolicy",
    ("spec.egress", "spec.policyTypes"),
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

_MAKERS = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, PLAIN_JOBS, CRON_JOBS)
_OWN = (PODS, WORKLOADS, *_MAKERS, BINDINGS, ROLES, QUOTAS, LIMITS, CLAIMS, NETWORK_POLICIES, *JOBS)
_NAMES = frozenset(each.display for each in _OWN)

IMPORTED = (
    *_OWN,
    *(each for each in readable.TABLE if not each.of_tree and each.display not in _NAMES),
)
"""All that is read of a dump: of namespaces that no tree has, too. Secrets are not in it."""
