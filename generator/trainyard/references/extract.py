"""List the names that each kind of manifest uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.model.lookup import EVERY, lookup, mapping, text
from trainyard.references.names import POOL_LABEL, VF_RESOURCE, Name, Scope, Use
from trainyard.references.pods import OVERRIDES, REPLICATED_JOBS, pod_uses

Extractor = Callable[[dict[str, Any], Scope], Iterator[Use]]

_NAMESPACE_LABEL = "kubernetes.io/metadata.name"
_PEOPLE = frozenset({"Group", "User"})
_LOCAL = frozenset({"Role", "SecretStore", "TrainingRuntime"})


def _name(kind: str, *steps: str, beside: bool = False) -> Extractor:
    """Return an extractor of plain names; empty names are left out.

    Args:
        kind: of what is named.
        steps: to the name.
        beside: whether it is in the manifest's own namespace, not cluster-wide.
    """

    def extract(body: dict[str, Any], scope: Scope) -> Iterator[Use]:
        namespace = scope.namespace if beside else ""
        return (Use(kind, namespace, str(name), path) for path, name in lookup(body, steps) if name)

    return extract


def _object(*steps: str, kind: str = "") -> Extractor:
    """Return an extractor of object references (kind, namespace, name), except to people.

    Args:
        steps: to the reference.
        kind: of references without one.
    """

    def extract(body: dict[str, Any], scope: Scope) -> Iterator[Use]:
        for path, reference in lookup(body, steps):
            fields = mapping(reference)
            target, name = str(fields.get("kind", kind)), str(fields.get("name", ""))
            if target not in _PEOPLE:
                own = scope.namespace if target in _LOCAL else ""
                yield Use(target, str(fields.get("namespace", own)), name, (*path, "name"))

    return extract


def _namespaces(*steps: str) -> Extractor:
    """Return an extractor of the namespaces that a selector takes by name."""

    def extract(body: dict[str, Any], _: Scope) -> Iterator[Use]:
        for path, selector in lookup(body, steps):
            for end, name in lookup(selector, ("matchLabels", _NAMESPACE_LABEL), path):
                yield Use("Namespace", "", str(name), end)
            for end, expression in lookup(selector, ("matchExpressions", EVERY), path):
                if (
                    mapping(expression).get("key") == _NAMESPACE_LABEL
                    and expression.get("operator") == "In"
                ):
                    for last, name in lookup(expression, ("values", EVERY), end):
                        yield Use("Namespace", "", str(name), last)

    return extract


def _pool_labels(body: dict[str, Any], _: Scope) -> Iterator[Use]:
    path = ("spec", "machineConfigPoolSelector", "matchLabels")
    labels = mapping(body, *path)
    return (
        Use(POOL_LABEL, "", f"{label}={value}", (*path, label)) for label, value in labels.items()
    )


def _pods(*templates: str) -> Extractor:
    return lambda body, scope: pod_uses(body, scope, templates)


def _parameter(body: dict[str, Any], _: Scope) -> Iterator[Use]:
    """Yield the parameter of an admission policy: the limits of a namespace, or a runtime.

    What may be absent is none: it is in the namespace of each request.
    """
    if text(body, "spec", "paramRef", "parameterNotFoundAction") == "Allow":
        return
    for path, name in lookup(body, ("spec", "paramRef", "name")):
        namespace = text(body, "spec", "paramRef", "namespace")
        kind = "ConfigMap" if namespace else "ClusterTrainingRuntime"
        yield Use(kind, namespace, str(name), path)


_BINDING = (_object("roleRef"), _object("subjects", EVERY))
_ENVIRONMENT = ("spec", "trainer", "env", EVERY, "valueFrom")

EXTRACTORS: Mapping[str, tuple[Extractor, ...]] = {
    "ClusterQueue": (
        _name("ResourceFlavor", "spec", "resourceGroups", EVERY, "flavors", EVERY, "name"),
        _name("Cohort", "spec", "cohortName"),
        _namespaces("spec", "namespaceSelector"),
    ),
    "ClusterRoleBinding": _BINDING,
    "ClusterTrainingRuntime": (_pods(*REPLICATED_JOBS),),
    "Cohort": (_name("Cohort", "spec", "parentName"),),
    "CronJob": (_pods("spec", "jobTemplate", "spec", "template"),),
    "ExternalSecret": (
        _object("spec", "secretStoreRef", kind="SecretStore"),
        _object("spec", "data", EVERY, "sourceRef", "storeRef", kind="SecretStore"),
        _object("spec", "dataFrom", EVERY, "sourceRef", "storeRef", kind="SecretStore"),
    ),
    "KubeletConfig": (_pool_labels,),
    "LocalQueue": (_name("ClusterQueue", "spec", "clusterQueue"),),
    "MachineConfig": (
        _name("MachineConfigPool", "metadata", "labels", "machineconfiguration.openshift.io/role"),
    ),
    "NetworkAttachmentDefinition": (
        _name(VF_RESOURCE, "metadata", "annotations", "k8s.v1.cni.cncf.io/resourceName"),
    ),
    "NetworkPolicy": (
        _namespaces("spec", "ingress", EVERY, "from", EVERY, "namespaceSelector"),
        _namespaces("spec", "egress", EVERY, "to", EVERY, "namespaceSelector"),
    ),
    "PersistentVolume": (
        _object("spec", "claimRef", kind="PersistentVolumeClaim"),
        _name("StorageClass", "spec", "storageClassName"),
    ),
    "PersistentVolumeClaim": (
        _name("PersistentVolume", "spec", "volumeName"),
        _name("StorageClass", "spec", "storageClassName"),
    ),
    "ResourceFlavor": (_name("Topology", "spec", "topologyName"),),
    "RoleBinding": _BINDING,
    "ServiceAccount": (
        _name("Secret", "imagePullSecrets", EVERY, "name", beside=True),
        _name("Secret", "secrets", EVERY, "name", beside=True),
    ),
    "TrainJob": (
        _object("spec", "runtimeRef", kind="ClusterTrainingRuntime"),
        _name("LocalQueue", "metadata", "labels", "kueue.x-k8s.io/queue-name", beside=True),
        _name("WorkloadPriorityClass", "metadata", "labels", "kueue.x-k8s.io/priority-class"),
        _name("Secret", *_ENVIRONMENT, "secretKeyRef", "name", beside=True),
        _name("ConfigMap", *_ENVIRONMENT, "configMapKeyRef", "name", beside=True),
        _pods(*OVERRIDES),
    ),
    "TrainingRuntime": (_pods(*REPLICATED_JOBS),),
    "ValidatingAdmissionPolicyBinding": (
        _name("ValidatingAdmissionPolicy", "spec", "policyName"),
        _parameter,
        _namespaces("spec", "matchResources", "namespaceSelector"),
    ),
}
"""The one table; a kind that is not here refers to nothing but its namespace."""


def uses(body: dict[str, Any], scope: Scope) -> Iterator[Use]:
    """Yield every name that a manifest uses, its first place only."""
    found: dict[Name, Use] = {}
    for extract in EXTRACTORS.get(str(body["kind"]), ()):
        for use in extract(body, scope):
            found.setdefault((use.kind, use.namespace, use.name), use)
    if scope.namespace:
        yield Use("Namespace", "", scope.namespace, ("metadata", "namespace"))
    yield from found.values()
