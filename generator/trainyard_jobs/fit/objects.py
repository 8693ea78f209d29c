"""The objects of a cluster by kind and name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trainyard.model.manifest import UNLISTED, Manifest


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects that a cluster is given.

    Args:
        by_name: (kind, namespace, name) -> object; the namespace is empty for a cluster's own.
    """

    by_name: dict[tuple[str, str, str], Manifest]

    def find(self, kind: str, name: str, namespace: str = "") -> Manifest | None:
        """Return an object; None when the tree does not have it."""
        return self.by_name.get((kind, namespace, name))

    def of(self, kind: str, namespace: str = "") -> list[Manifest]:
        """Return the objects of a kind in a namespace, by name."""
        keys = [key for key in self.by_name if key[:2] == (kind, namespace)]
        return list(map(self.by_name.__getitem__, sorted(keys)))


def objects_of(manifests: Iterable[Manifest]) -> Objects:
    """Return objects by kind and name; samples, files of nodes and artifacts are none."""
    return Objects(
        {
            (manifest.body["kind"], manifest.namespace, manifest.name): manifest
            for manifest in manifests
            if manifest.unit not in UNLISTED
        }
    )
