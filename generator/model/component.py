"""A hand-written Kustomize Component beside the profiles: the way out for what Trainyard does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from generator.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Component:
    """A Component and the objects that it adds.

    Args:
        objects: file -> Kubernetes objects in it.
    """

    name: str
    at: Pointer
    objects: dict[str, tuple[dict[str, Any], ...]]
