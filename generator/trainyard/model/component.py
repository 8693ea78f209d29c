"""A hand-written Kustomize Component beside the profiles, for objects that profiles lack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Component:
    """A Component and the objects that it adds.

    Args:
        objects: file -> Kubernetes objects in it.
    """

    name: str
    at: Pointer
    objects: dict[str, tuple[dict[str, Any], ...]]

    def each(self) -> Iterator[tuple[Pointer, str, dict[str, Any]]]:
        """Yield every object: its place, the file as it is listed, and its body."""
        folder = self.at.file.rpartition("/")[0]
        for file, bodies in self.objects.items():
            for i, body in enumerate(bodies):
                yield Pointer(f"{folder}/{file}", (i,)), file, body
