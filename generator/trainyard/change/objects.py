"""The objects of a tree by their identity, and those of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from trainyard.model.identity import Identity
from trainyard.model.manifest import Manifest

Objects: TypeAlias = Mapping[Identity, Manifest]


def of_kind(objects: Objects, *kinds: str) -> Iterator[Manifest]:
    """Yield the objects of some kinds, in the order of the tree."""
    for identity, manifest in objects.items():
        if identity.kind in kinds:
            yield manifest
