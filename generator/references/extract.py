"""The table of references: which names each kind of manifest uses, and what it defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from generator.diagnostics import Step
from generator.references.names import EVERY, POOL_LABEL, TOPOLOGY_LEVEL, VF_RESOURCE, Name, Scope, Use, mapping, reach
from generator.references.pods import runtime_uses

Extractor = Callable[[dict[str, Any], Scope], Iterator[Use]]

_NAMESPACE_LABEL = "kubernetes.io/metadata.name"
_PEOPLE = frozenset({"Group", "User"})
_LOCAL = frozenset({"Role", "SecretStore", "TrainingRuntime"})


def _cluster(kind: str, *steps: str) -> Extractor:
    """Return an extractor of names of a cluster-wide kind; an empty name is none."""

    def extract(body: dict[str, Any], _: Scope) -> Iterator[Use]:
        return (Use(kind, "", str(name), path) for path, name in reach(body, steps) if name)

    return extract


def _beside(kind: str, *steps: str) -> Extractor:
    """Return an extractor of names in the manifest's own namespace."""

    def extract(body: dict[str, Any], scope: Scope) -> Iterator[Use]:
        return (Use(kind, scope.namespace, str(name), path) for path, name in reach(body, steps) if name)

    return extract


def _object(*steps: str, kind: str = "") -> Extractor:
    """Return an extractor of object references (kind, namespace, name); people are the identity provider's.

    Args:
        steps: to the reference.
        kind: of references that don't say one.
    """

    def extract(body: dict[str, Any], scope: Scope) -> Iterator[Use]:
        for path, reference in reach(body, steps):
            target = mapping(reference).get("kind", kind)
            if isinstance(reference, dict) and target not in _PEOPLE:
                own = scope.namespace if target in _LOCAL else ""
                yield Use(target, reference.get("namespace", own), str(reference.get("name", "")), (*path, "name"))

    return extract


def _namespaces(*steps: str) -> Extractor:
    """Return an extractor of the namespaces that a selector takes by name."""

    def extract(body: dict[str, Any], _: Scope) -> Iterator[Use]:
        for path, selector in reach(body, steps):
            for end, name in reach(selector, ("matchLabels", _NAMESPACE_LABEL), path):
                yield Use("Namespace", "", str(name), end)
            for end, expression in reach(selector, ("matchExpressions", EVERY), path):
                if mapping(expression).get("key") == _NAMESPACE_LABEL and expression.get("operator") == "In":
                    for last, name in reach(expression, ("values", EVERY), end):
                        yield Use("Namespace", "", str(name), last)

    return extract


def _words(kind: str, key: str) -> Extractor:
    """Return an extractor of the names in one key of an admission policy's parameters, split at spaces."""

    def extract(body: dict[str, Any], _: Scope) -> Iterator[Use]:
        words = str(mapping(body, "data").get(key, "")).split()
        return (Use(kind, "", word, ("data", key)) for word in words)

    return extract


def _pool_labels(body: dict[str, Any], _: Scope) -> Iterator[Use]:
    path: tuple[Step, ...] = ("spec", "machineConfigPoolSelector", "matchLabels")
    labels = mapping(body, "spec", "machineConfigPoolSelector", "matchLabels")
    return (Use(POOL_LABEL, "", f"{label}={value}", (*path, label)) for label, value in labels.items())


def _templates(*steps: str) -> Extractor:
    """Return an extractor of what pods need, for a runtime's pod templates."""
    return lambda body, scope: runtime_uses(body, scope, steps)


_RUNTIME = _templates("spec", "template", "spec", "replicatedJobs", EVERY, "template", "spec", "template")
_OVERRIDES = ("spec", "podTemplateOverrides", EVERY)
_OVERRIDDEN = _templates(*_OVERRIDES)
_STORE_REFERENCES = (_object("spec", "secretStoreRef", kind="SecretStore"),)

EXTRACTORS: Mapping[str, tuple[Extractor, ...]] = {
    "ClusterQueue": (
        _cluster("ResourceFlavor", "spec", "resourceGroups", EVERY, "flavors", EVERY, "name"),
        _cluster("Cohort", "spec", "cohortName"),
        _namespaces("spec", "namespaceSelector"),
    ),
    "ClusterRoleBinding": (_object("roleRef"), _object("subjects", EVERY)),
    "ClusterTrainingRuntime": (_RUNTIME,),
    "Cohort": (_cluster("Cohort", "spec", "parentName"),),
    "ConfigMap": (),
    "ExternalSecret": _STORE_REFERENCES,
    "KubeletConfig": (_pool_labels,),
    "LocalQueue": (_cluster("ClusterQueue", "spec", "clusterQueue"),),
    "MachineConfig": (
        _cluster("MachineConfigPool", "metadata", "labels", "machineconfiguration.openshift.io/role"),
    ),
    "NetworkAttachmentDefinition": (
        _cluster(VF_RESOURCE, "metadata", "annotations", "k8s.v1.cni.cncf.io/resourceName"),
    ),
    "NetworkPolicy": (
        _namespaces("spec", "ingress", EVERY, "from", EVERY, "namespaceSelector"),
        _namespaces("spec", "egress", EVERY, "to", EVERY, "namespaceSelector"),
    ),
    "PersistentVolume": (
        _object("spec", "claimRef", kind="PersistentVolumeClaim"),
        _cluster("StorageClass", "spec", "storageClassName"),
    ),
    "PersistentVolumeClaim": (
        _cluster("PersistentVolume", "spec", "volumeName"),
        _cluster("StorageClass", "spec", "storageClassName"),
    ),
    "ResourceFlavor": (_cluster("Topology", "spec", "topologyName"),),
    "RoleBinding": (_object("roleRef"), _object("subjects", EVERY)),
    "ServiceAccount": (
        _beside("Secret", "imagePullSecrets", EVERY, "name"),
        _beside("Secret", "secrets", EVERY, "name"),
    ),
    "TrainJob": (
        _object("spec", "runtimeRef", kind="ClusterTrainingRuntime"),
        _beside("LocalQueue", "metadata", "labels", "kueue.x-k8s.io/queue-name"),
        _cluster("WorkloadPriorityClass", "metadata", "labels", "kueue.x-k8s.io/priority-class"),
        _beside("Secret", "spec", "trainer", "env", EVERY, "valueFrom", "secretKeyRef", "name"),
        _beside("ConfigMap", "spec", "trainer", "env", EVERY, "valueFrom", "configMapKeyRef", "name"),
        _OVERRIDDEN,
    ),
    "TrainingRuntime": (_RUNTIME,),
    "ValidatingAdmissionPolicyBinding": (
        _cluster("ValidatingAdmissionPolicy", "spec", "policyName"),
        _object("spec", "paramRef", kind="ConfigMap"),
        _namespaces("spec", "matchResources", "namespaceSelector"),
    ),
}
"""The one table; a kind that is not here refers to nothing but its namespace."""
