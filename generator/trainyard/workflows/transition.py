"""Check what replacing the committed tree by the new one takes away from the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer, TreeError
from trainyard.history.check import check_replacement
from trainyard.history.replacement import Replacement
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.renames import renamed_holdings, renamed_ids, renames
from trainyard.model.team import Team
from trainyard.output.compare import reading, top
from trainyard.output.lockfile import LOCKFILE, Lock, LockedFile, digest, read_lock
from trainyard.schema.manifests import check_committed
from trainyard.workflows.generate import Generation
from trainyard.workflows.vanished import check_old_names, check_vanished, vanished_cluster
from trainyard.yaml_io.manifests import parse_manifests

_OURS = frozenset({"argocd", "platform"})
"""Folders of each cluster's tree."""


def check_replaced(
    target: Path, generation: Generation, clusters: Iterable[str] = ()
) -> Iterator[Diagnostic]:
    """Yield what leaves the tree without a tombstone, and what breaks objects on the cluster.

    Args:
        target: the tree.
        generation: without errors.
        clusters: names of the only ones wanted; all when empty.

    Raises:
        TreeError: the tree can't be read, holds what Trainyard did not write, or lost a lockfile.
    """
    _require_locks(target, generation)
    # What holds for all clusters is found on each of them, at one place.
    yield from dict.fromkeys(_check_trees(target, generation, frozenset(clusters)))


def _check_trees(
    target: Path, generation: Generation, wanted: frozenset[str]
) -> Iterator[Diagnostic]:
    assert generation.checked.platform is not None
    platform = generation.checked.platform
    sites = {site.name: site for site in platform.sites}
    committed = dict(locks(target))
    yield from check_old_names(platform.teams, committed.values())
    for cluster, lock in committed.items():
        if wanted and cluster not in wanted:
            continue
        if cluster in sites:
            yield from _check_site(sites[cluster], target / cluster, lock, generation)
        elif not wanted:
            yield vanished_cluster(cluster, lock)


def _check_site(
    site: Site, folder: Path, lock: Lock, generation: Generation
) -> Iterator[Diagnostic]:
    assert generation.checked.platform is not None
    renamed = renames(generation.checked.platform.teams, lock.teams)
    yield from check_vanished(site, lock, generation, renamed)
    yield from check_replacement(_replacement(site, folder, lock, generation, renamed))


def _require_locks(target: Path, generation: Generation) -> None:
    """Refuse a tree that lost a lockfile: the numbers of former teams could be given away.

    Raises:
        TreeError: a folder has generated files and no lockfile.
    """
    for cluster in generation.manifests:
        folder = target / cluster
        with reading(target):
            present = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if LOCKFILE not in present and not present.isdisjoint(_OURS):
            raise TreeError(
                f"{folder} has generated files and no {LOCKFILE}, so the numbers that were given "
                f"are unknown; restore {folder / LOCKFILE} from Git, or remove the folder if it "
                "was never merged"
            )


def locks(target: Path) -> Iterator[tuple[str, Lock]]:
    """Yield the lock of each folder of the tree that has one, by the name of its cluster.

    Raises:
        TreeError: the tree or a lockfile can't be read.
    """
    with reading(target):
        folders = [target / entry.name for entry in top(target) if entry.is_dir()]
    for folder in folders:
        lock = read_lock(folder) if (folder / LOCKFILE).exists() else None
        if lock is not None:
            yield folder.name, lock


def _replacement(
    site: Site, folder: Path, lock: Lock, generation: Generation, renamed: Mapping[str, Team]
) -> Replacement:
    """Return the objects of a cluster before and after."""
    platform = generation.checked.platform
    assert platform is not None
    before: list[Manifest] = []
    after: list[Manifest] = []
    new = {manifest.path: manifest for manifest in generation.manifests[site.name]}
    for path in sorted({*lock.files, *new}):
        content = generation.files.get(f"{site.name}/{path}", b"")
        entry, manifest = lock.files.get(path), new.get(path)
        old, current = _objects_of(folder, path, entry, manifest, content)
        before += old
        after += current
    return Replacement(
        platform,
        site,
        lock.tool,
        _by_identity(before),
        _by_identity(after),
        renamed_holdings(lock.holdings, platform.holdings(site), renamed),
        renamed_ids(lock.ids, platform.ids.get(site.name, ()), renamed),
        renamed,
    )


def _by_identity(manifests: Iterable[Manifest]) -> dict[Identity, Manifest]:
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
    (body,) = _objects(content.decode())
    return before, [replace(manifest, body=body)]


def _read(folder: Path, path: str, entry: LockedFile) -> list[Manifest]:
    """Return the objects of a committed file; none of a file that is gone or no manifest.

    Raises:
        TreeError: the file can't be read, or holds what can't be compared.
    """
    file = folder / path
    with reading(file):
        if file.suffix != ".yaml" or not file.is_file():
            return []
        content = file.read_bytes()
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
    """Return the documents of a text but for fragments, which have no version and no kind."""
    return [each for each in parse_manifests(text) if not _is_fragment(each)]


def _is_fragment(document: Any) -> bool:
    return isinstance(document, dict) and document.keys().isdisjoint({"apiVersion", "kind"})
