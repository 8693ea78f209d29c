"""Find the names that a job's pods use, in a runtime's templates and a job's overrides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Step
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.references.names import LISTING, TOPOLOGY_LEVEL, VF_RESOURCE, Scope, Use

REPLICATED_JOBS = (
    "spec",
    "template",
    "spec",
    "replicatedJobs",
    EVERY,
    "template",
    "spec",
    "template",
)
OVERRIDES = ("spec", "podTemplateOverrides", EVERY)

_NETWORKS = "k8s.v1.cni.cncf.io/networks"
_CLUSTER_ANNOTATIONS = {
    "kueue.x-k8s.io/podset-preferred-topology": TOPOLOGY_LEVEL,
    "kueue.x-k8s.io/podset-required-topology": TOPOLOGY_LEVEL,
    "openshift.io/required-scc": "SecurityContextConstraints",
}
_CONTAINERS = (("spec", "containers", EVERY), ("spec", "initContainers", EVERY))
_BESIDE = (
    ("ConfigMap", ("spec", "volumes", EVERY, "configMap", "name")),
    ("ResourceClaimTemplate", ("spec", "resourceClaims", EVERY, "resourceClaimTemplateName")),
    ("PersistentVolumeClaim", ("spec", "volumes", EVERY, "persistentVolumeClaim", "claimName")),
    ("Secret", ("spec", "imagePullSecrets", EVERY, "name")),
    ("Secret", ("spec", "volumes", EVERY, "secret", "secretName")),
    ("ServiceAccount", ("spec", "serviceAccountName")),
    *(
        ("ConfigMap", (*container, "env", EVERY, "valueFrom", "configMapKeyRef", "name"))
        for container in _CONTAINERS
    ),
    *(
        ("Secret", (*container, "env", EVERY, "valueFrom", "secretKeyRef", "name"))
        for container in _CONTAINERS
    ),
)


def pod_uses(body: dict[str, Any], scope: Scope, templates: tuple[str, ...]) -> Iterator[Use]:
    """Yield the names that the pods of a manifest use.

    Args:
        body: of a runtime or job.
        scope: of the manifest; a cluster-wide runtime needs its names in every namespace that lists
            it.
        templates: steps to the pod templates.
    """
    own = scope.namespace or LISTING
    for path, template in lookup(body, templates):
        yield from _annotated(template, own, path)
        yield from _in_namespace(template, own, path)
        yield from _devices(template, f"{scope.prefix}/", path)


def _in_namespace(template: Any, own: str, path: tuple[Step, ...]) -> Iterator[Use]:
    """Yield what a pod uses of its own namespace."""
    for kind, steps in _BESIDE:
        for end, name in lookup(template, steps, path):
            if name:
                yield Use(kind, own, str(name), end)


def _devices(template: Any, prefix: str, path: tuple[Step, ...]) -> Iterator[Use]:
    """Yield the SR-IOV resources that a pod requests."""
    for container in _CONTAINERS:
        for end, resources in lookup(template, (*container, "resources", "requests"), path):
            for name in mapping(resources):
                if name.startswith(prefix):
                    yield Use(VF_RESOURCE, "", name, (*end, name))


def _annotated(template: Any, own: str, path: tuple[Step, ...]) -> Iterator[Use]:
    annotations = mapping(template, "metadata", "annotations")
    path = (*path, "metadata", "annotations")
    for key, kind in _CLUSTER_ANNOTATIONS.items():
        if key in annotations:
            yield Use(kind, "", str(annotations[key]), (*path, key))
    for network in str(annotations.get(_NETWORKS, "")).split(","):
        namespace, _, name = network.strip().rpartition("/")
        if name:
            yield Use(
                "NetworkAttachmentDefinition",
                namespace or own,
                name.partition("@")[0],
                (*path, _NETWORKS),
            )


def requested(body: dict[str, Any]) -> frozenset[str]:
    """Return the resources that a runtime's pods ask for; a limit alone is a request too."""
    found: set[str] = set()
    for container in _CONTAINERS:
        for kind in ("limits", "requests"):
            for _, resources in lookup(body, (*REPLICATED_JOBS, *container, "resources", kind)):
                found.update(mapping(resources))
    return frozenset(found)
