"""The objects of a cluster in its committed folder and in the new tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Pointer, TreeError
from trainyard.generation.generate import Generation
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.plainfile import read_regular
from trainyard.schema.manifests import check_committed
from trainyard.tree.compare import reading
from trainyard.tree.lockfile import Lock, LockedFile, digest
from trainyard.yaml_io.manifests import parse_manifests

Objects = dict[Identity, Manifest]
"""Objects of a cluster."""
BothSides = tuple[Mapping[Identity, Manifest], Mapping[Identity, Manifest]]
"""Objects of a cluster before and after."""


def both_sides(folder: Path, lock: Lock, generation: Generation) -> BothSides:
    """Return the objects of a cluster before and after.

    Args:
        folder: of the cluster in the committed tree, named after it.
        lock: the folder's.
        generation: without errors; the cluster may be gone from it.

    Raises:
        TreeError: a committed file can't be read or compared.
    """
    before: list[Manifest] = []
    after: list[Manifest] = []
    new = {manifest.path: manifest for manifest in generation.manifests.get(folder.name, ())}
    for path in sorted({*lock.files, *new}):
        content = generation.files.get(f"{folder.name}/{path}", b"")
        entry, manifest = lock.files.get(path), new.get(path)
        old, current = _objects_of(folder, path, entry, manifest, content)
        before += old
        after += current
    return by_identity(before), by_identity(after)


def digests(
    cluster: str, lock: Lock, generation: Generation
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the digest of each file of a cluster by its path, before and after."""
    folder = f"{cluster}/"
    after = {
        path.removeprefix(folder): digest(content)
        for path, content in generation.files.items()
        if path.startswith(folder)
    }
    return {path: entry.sha256 for path, entry in lock.files.items()}, after


def by_identity(manifests: Iterable[Manifest]) -> Objects:
    """Return objects by the key that they have in both trees."""
    return {identity(manifest): manifest for manifest in manifests}


def _objects_of(
    folder: Path,
    path: str,
    entry: LockedFile | None,
    manifest: Manifest | None,
    content: bytes,
) -> tuple[list[Manifest], list[Manifest]]:
    """Return the objects of a file before and after.

    Args:
        folder: of the cluster in the committed tree.
        path: of the file below the folder.
        entry: of the lockfile; None when the file is new.
        manifest: that the file will hold; None when it goes, or holds no object.
        content: that the file will have.

    Raises:
        TreeError: the committed file can't be read or compared.
    """
    if manifest and entry and digest(content) == entry.sha256:
        # Equal bytes are equal objects: reading them all back would take as long as the rest of the
        # run.
        return [manifest], [manifest]
    before = _read(folder, path, entry) if entry else []
    if manifest is None or not content:
        return before, []
    return before, [manifest]


def _read(folder: Path, path: str, entry: LockedFile) -> list[Manifest]:
    """Return the objects of a committed file; none of a file that is gone or no manifest.

    Raises:
        TreeError: the file can't be read, or holds what can't be compared.
    """
    file = folder / path
    with reading(file):
        if file.suffix != ".yaml" or not file.is_file():
            return []
        content = read_regular(folder, path)
    try:
        bodies = _comparable(content, edited=digest(content) != entry.sha256)
    except ValueError as fault:
        raise TreeError(
            f"{file} is broken ({fault}); take either side of it from Git, then generate again"
        ) from fault
    at = Pointer(f"overlays/{folder.name}/{path}")
    return [Manifest(path, body, entry.origins, at) for body in bodies]


def _comparable(content: bytes, *, edited: bool) -> list[Any]:
    """Return the objects of a committed file.

    Args:
        content: of the file.
        edited: it is not what Trainyard wrote; documents that are no objects are left out.

    Raises:
        ValueError: an object can't be compared.
    """
    bodies = _objects(content.decode())
    if edited:
        bodies = [body for body in bodies if isinstance(body, dict)]
    for body in bodies:
        if fault := check_committed(body):
            raise ValueError(fault)
    return bodies


def _objects(text: str) -> list[Any]:
    """Return the documents of a text but for those that no API server gets."""
    return [each for each in parse_manifests(text) if not _is_input(each)]


_INPUTS = {None, "CustomResourceStateMetrics"}
"""Kinds of documents without a version: a fragment has no kind either."""


def _is_input(document: Any) -> bool:
    """Return whether a document is read by a program: Kustomize, Argo CD, kube-state-metrics."""
    if not isinstance(document, dict):
        return False
    if "apiVersion" not in document and document.get("kind") in _INPUTS:
        return True
    return str(document.get("apiVersion")).startswith("kustomize.config.k8s.io/")
