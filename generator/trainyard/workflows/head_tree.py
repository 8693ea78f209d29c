"""Compare the tree of a change with what its own profiles make: the tree is what is merged."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.git.commits import Blob, Commit, Listing, blob_id
from trainyard.model.platform import Site
from trainyard.output.compare import Comparison, not_generated, owned, reading, walk
from trainyard.output.lockfile import LOCKFILE, Lock, lock_bytes, parse_lock, read_lock
from trainyard.workflows.emission import given_numbers
from trainyard.workflows.generate import Generation
from trainyard.workflows.snapshot import Snapshot

_NO_FILE = ""
"""In place of the id of an entry that Trainyard never writes: a symlink, an executable."""

Ids = dict[str, dict[str, str]]
"""Cluster -> path below the tree -> Git's id of the content."""


@dataclass(frozen=True, slots=True)
class HeadTree:
    """The tree of a change, as committed or in the work tree.

    Args:
        folder: with its lockfiles.
        commit: of the repository, whose ids have the same form.
        ids: of its files, by the name at the top of the tree.
        copy: puts files of ours into the folder, if they are not there.
    """

    folder: Path
    commit: Commit
    ids: Ids
    copy: Callable[[Iterable[str]], None]


def committed_tree(snapshot: Snapshot) -> HeadTree:
    """Return the tree of a commit."""
    return HeadTree(snapshot.tree, snapshot.commit, ids_of(snapshot.listing), snapshot.copy)


def tree_on_disk(folder: Path, commit: Commit) -> HeadTree:
    """Return the tree of the work tree.

    Raises:
        TreeError: it can't be read.
    """
    with reading(folder):
        ids = {path: _id(entry, commit) for path, entry in walk(folder)}
    return HeadTree(folder, commit, _by_cluster(ids), lambda _: None)


def _id(entry: os.DirEntry[str], commit: Commit) -> str:
    mode = entry.stat(follow_symlinks=False).st_mode
    if not stat.S_ISREG(mode) or mode & 0o111:
        return _NO_FILE
    # A plain open takes half the time of Path.read_bytes over 39,000 files.
    with open(entry, "rb", buffering=0) as file:  # noqa: PTH123
        return blob_id(file.readall(), commit)


def ids_of(listing: Listing) -> Ids:
    """Return the ids of a commit's tree."""
    ids = {path: _plain(blob) for path, blob in listing.files.items()}
    return _by_cluster({**ids, **dict.fromkeys(listing.links, _NO_FILE)})


def _plain(blob: Blob) -> str:
    return _NO_FILE if blob.executable else blob.id


def _by_cluster(ids: Mapping[str, str]) -> Ids:
    grouped: Ids = {}
    for path, each in ids.items():
        grouped.setdefault(path.partition("/")[0], {})[path] = each
    return grouped


def compare_head(tree: HeadTree, generation: Generation, others: Collection[str]) -> Comparison:
    """Compare the tree of a change with what its profiles make.

    Args:
        tree: the tree.
        generation: of its own profiles, without errors.
        others: what is not compared at the top of the tree: clusters that were not rendered.

    Raises:
        TreeError: a file can't be read.
    """
    files = {**generation.files, **_own_locks(tree, generation)}
    expected = {path: blob_id(content, tree.commit) for path, content in files.items()}
    present: dict[str, str] = {}
    for name in tree.ids.keys() - others:
        present |= tree.ids[name]
    there = expected.keys() & present.keys()
    return Comparison(
        tuple(sorted(expected.keys() - present.keys())),
        tuple(sorted(path for path in there if present[path] != expected[path])),
        *_not_generated(tree, present.keys() - expected.keys(), generation.manifests),
    )


def _not_generated(
    tree: HeadTree, paths: Collection[str], clusters: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the files that are not generated, as `not_generated` tells them apart."""
    locks = {name: _readable(tree.folder / name) for name in clusters}
    ours = owned({name: lock for name, lock in locks.items() if lock})
    with reading(tree.folder):
        tree.copy(path for path in paths if path in ours)
        return not_generated(tree.folder, paths, (), ours)


def _own_locks(tree: HeadTree, generation: Generation) -> dict[str, bytes]:
    """Return the lockfiles that `generate` writes over those of the change.

    They may remember numbers that were given and taken back before a merge.
    """
    platform = generation.checked.platform
    sites = platform.sites if platform else ()
    found = {}
    for site in (each for each in sites if each.name in generation.manifests):
        path = f"{site.name}/{LOCKFILE}"
        if _readable(tree.folder / site.name):
            found[path] = _over(tree.folder, site, generation, path)
    return found


def _over(folder: Path, site: Site, generation: Generation, path: str) -> bytes:
    platform = generation.checked.platform
    assert platform is not None
    lock = parse_lock(generation.files[path], Path(path))
    holdings, ids = given_numbers(platform, site, folder)
    return lock_bytes(replace(lock, holdings=tuple(holdings), ids=tuple(ids)))


def _readable(folder: Path) -> Lock | None:
    """Return the lock of a folder; None when it is missing or broken."""
    try:
        return read_lock(folder)
    except TreeError:
        return None
