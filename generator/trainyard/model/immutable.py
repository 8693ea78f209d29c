"""Fields that the API server never changes, by kind."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.differences import Difference
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest
from trainyard.model.quantity import parse_bytes

SIZE = "spec.resources.requests.storage"
"""Size of a claim, which may grow where its storage class allows it."""

FIELDS = {
    "ClusterRoleBinding": ("roleRef",),
    "LocalQueue": ("spec.clusterQueue",),
    "PersistentVolume": ("spec.nfs.server", "spec.nfs.path", "spec.volumeMode"),
    "PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.storageClassName",
        "spec.volumeMode",
        "spec.volumeName",
        SIZE,
    ),
    "ResourceFlavor": ("spec.nodeLabels", "spec.tolerations", "spec.topologyName"),
    "RoleBinding": ("roleRef",),
    "Topology": ("spec.levels",),
}
"""Kinds that the tree has -> dotted paths. A flavor's are free while it names no topology."""


def refused_changes(old: Manifest, new: Manifest) -> Iterator[Difference]:
    """Yield the changes of an object that the API server refuses."""
    for field in FIELDS.get(old.kind.name, ()):
        change = Difference(field, value_at(old.body, field), value_at(new.body, field))
        if change.old != change.new and not _is_free(old, change):
            yield change


def grows(change: Difference) -> bool:
    """Return whether a change of a size raises it."""
    return parse_bytes(change.new) > parse_bytes(change.old)


def is_static(claim: Manifest) -> bool:
    """Return whether a claim is bound to a volume of ours, which nothing can resize."""
    return not value_at(claim.body, "spec.storageClassName")


def _is_free(old: Manifest, change: Difference) -> bool:
    if change.path == SIZE:
        return not is_static(old) and grows(change)
    return old.kind.name == "ResourceFlavor" and not value_at(old.body, "spec.topologyName")
