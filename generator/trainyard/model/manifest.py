"""One Kubernetes object that we emit: one file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trainyard.diagnostics import Pointer, Step

UNLISTED = frozenset({"node-files", "operators", "samples"})
"""Folders of a cluster that no kustomization lists: Argo CD does not apply their files."""


def unit_of(path: str) -> str:
    """Return the folder of a file that Argo CD syncs, from the file's path below the cluster's."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "teams" else parts[0]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object as Argo CD and RBAC name it."""

    group: str
    name: str
    namespaced: bool


@dataclass(frozen=True)
class Manifest:
    """One object.

    Args:
        path: below the cluster's folder, forward slashes.
        body: plain data; subtrees are shared between manifests and must not be changed.
        files: profile files that it was made from, most specific first.
        at: the profile place that a finding about it is shown at; of an object of a component, the
            object itself.
        by_hand: whether it is an object of a hand-written component.
    """

    path: str
    body: dict[str, Any]
    files: tuple[str, ...]
    at: Pointer
    by_hand: bool = False

    def place(self, path: Iterable[Step]) -> Pointer:
        """Return the place of a finding about a field: the field itself if the user wrote it.

        Of a mapping or list it is the key, not its first member.
        """
        if not self.by_hand:
            return self.at
        at = self.at.below(path)
        value: Any = self.body
        for step in at.path[len(self.at.path) :]:
            value = _within(value, step)
        return at.key() if isinstance(value, dict | list) else at

    @property
    def display(self) -> str:
        """The object in a message: the path of its file, or kind and name if the user wrote it."""
        return f"{self.body['kind']} `{self.name}`" if self.by_hand else self.path

    @cached_property
    def unit(self) -> str:
        """Folder that Argo CD syncs; a component's objects belong to the team that lists it."""
        return unit_of(self.path)

    @cached_property
    def name(self) -> str:
        """Name of the object, or of a file without an object."""
        return str(self._metadata.get("name", self.path.rpartition("/")[2].removesuffix(".yaml")))

    @cached_property
    def namespace(self) -> str:
        """Namespace of the object; empty when it is cluster scoped."""
        return str(self._metadata.get("namespace", ""))

    @property
    def _metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = self.body.get("metadata", {})
        return metadata

    @cached_property
    def kind(self) -> Kind:
        """Kind of the object."""
        return kind_of(self.body)


def _within(value: Any, step: Step) -> Any:
    """Return what a step leads to; nothing when it leads nowhere."""
    if isinstance(value, dict):
        return value.get(step)
    return (
        value[step]
        if isinstance(value, list) and isinstance(step, int) and step < len(value)
        else None
    )


def kind_of(body: dict[str, Any]) -> Kind:
    """Return the kind of an object.

    The release's schemas demand a namespace of every object whose kind has one.
    """
    group = body["apiVersion"].rpartition("/")[0]
    return Kind(group, body["kind"], "namespace" in body.get("metadata", {}))
