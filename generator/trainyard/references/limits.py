"""Read the teams' limits: the parameters that admission policies are bound with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.model.lookup import mapping
from trainyard.model.manifest import Manifest
from trainyard.references.index import Index
from trainyard.references.names import Use

_LISTS = {
    "namespaces": "Namespace",
    "priorityClasses": "WorkloadPriorityClass",
    "queues": "LocalQueue",
    "runtimes": "ClusterTrainingRuntime",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """A ConfigMap with parameters, and the one namespace that they are for.

    Args:
        namespace: empty when the binding takes namespaces by another label than their name.
    """

    manifest: Manifest
    namespace: str

    def words(self, key: str) -> list[str]:
        """Return the names in one key."""
        return str(mapping(self.manifest.body, "data").get(key, "")).split()

    def uses(self) -> Iterator[Use]:
        """Yield every name in it."""
        for key, kind in _LISTS.items():
            namespace = self.namespace if kind == "LocalQueue" else ""
            for word in self.words(key):
                yield Use(kind, namespace, word, ("data", key))


def find_limits(index: Index) -> Iterator[Limits]:
    """Yield the parameters of the tree's bindings, once for all policies that read them."""
    found: dict[tuple[str, str, str], Limits] = {}
    for binding in index.kinds.get("ValidatingAdmissionPolicyBinding", ()):
        reference = mapping(binding.body, "spec", "paramRef")
        name = ("ConfigMap", str(reference.get("namespace", "")), str(reference.get("name", "")))
        labels = mapping(binding.body, "spec", "matchResources", "namespaceSelector", "matchLabels")
        if name in index.manifests:
            found[name] = Limits(
                index.manifests[name], str(labels.get("kubernetes.io/metadata.name", ""))
            )
    yield from found.values()


def listing_namespaces(limits: tuple[Limits, ...]) -> Mapping[str, list[str]]:
    """Return the namespaces that may use each runtime."""
    listing: dict[str, list[str]] = {}
    for limit in limits:
        for runtime in limit.words("runtimes"):
            listing.setdefault(runtime, []).append(limit.namespace)
    return listing
