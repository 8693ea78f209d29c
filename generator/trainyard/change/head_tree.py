"""Compare the tree of a change with what its own profiles make: the tree is what is merged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainyard.generation.emission import given_numbers
from trainyard.generation.generate import Generation
from trainyard.git.commits import Blob, Commit, Listing, blob_id
from trainyard.plainfile import read_regular
from trainyard.tree.compare import Comparison, not_generated, owned, reading, top, walk
from trainyard.tree.lockfile import LOCKFILE, Lock, digest, lock_bytes, parse_lock, readable_lock
from trainyard.tree.snapshot import Snapshot

_NO_FILE = ""
"""In place of the id of an entry that Trainyard never writes: a symlink, an executable."""

Ids = dict[str, dict[str, str]]
"""Name at the top of the tree -> path below the tree -> id of the content."""


@dataclass(frozen=True, slots=True)
class HeadTree:
    """The tree of a change, as committed or in the work tree.

    Args:
        folder: with its lockfiles.
        commit: whose tree it is, with Git's ids; None for the work tree, with the digests of its
            lockfiles: `generate` writes that tree again and reads it then, which takes a second
            for a thousand teams.
        ids: of the commit's files.
        copy: puts files of ours into the folder, if they are not there.
    """

    folder: Path
    commit: Commit | None = None
    ids: Ids = field(default_factory=dict)
    copy: Callable[[Iterable[str]], None] = lambda _: None

    @property
    def names(self) -> frozenset[str]:
        """What is at the top."""
        if self.commit:
            return frozenset(self.ids)
        with reading(self.folder):
            return frozenset(entry.name for entry in top(self.folder))

    def id_of(self, content: bytes) -> str:
        """Return the id that a content has in this tree."""
        return blob_id(content, self.commit) if self.commit else digest(content)

    def differs(self, name: str, base: Ids) -> bool:
        """Return whether a commit has another folder than the base."""
        return self.commit is not None and self.ids.get(name, {}) != base.get(name, {})

    def files(self, names: Collection[str]) -> dict[str, str]:
        """Return the id of each file below some names at the top, by path.

        Raises:
            TreeError: a folder can't be read.
        """
        ids = self.ids if self.commit else _on_disk(self.folder, names)
        return {path: each for name in names for path, each in ids.get(name, {}).items()}


def committed_tree(snapshot: Snapshot) -> HeadTree:
    """Return the tree of a commit."""
    return HeadTree(snapshot.tree, snapshot.commit, ids_of(snapshot.listing), snapshot.copy)


def _on_disk(folder: Path, names: Collection[str]) -> Ids:
    ids = {}
    with reading(folder):
        locks = _locks(folder, names)
        written = owned(locks)
        for name in locks:
            written[f"{name}/{LOCKFILE}"] = digest(read_regular(folder / name, LOCKFILE))
        for path, entry in walk(folder, names):
            is_file = entry.is_file(follow_symlinks=False)
            if "/" in path or not is_file:
                ids[path] = written.get(path, _NO_FILE) if is_file else _NO_FILE
    return _by_name(ids)


def ids_of(listing: Listing) -> Ids:
    """Return the ids of a commit's tree, without files at its top: nothing reads them."""
    ids = {path: _plain(blob) for path, blob in listing.files.items() if "/" in path}
    return _by_name({**ids, **dict.fromkeys(listing.links, _NO_FILE)})


def _plain(blob: Blob) -> str:
    return _NO_FILE if blob.executable else blob.id


def _by_name(ids: Mapping[str, str]) -> Ids:
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
    files = {**generation.files, **dict(_own_locks(tree.folder, generation))}
    expected = {path: tree.id_of(content) for path, content in files.items()}
    present = tree.files(tree.names - frozenset(others))
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
    ours = owned(_locks(tree.folder, clusters))
    with reading(tree.folder):
        tree.copy(path for path in paths if path in ours)
        return not_generated(tree.folder, paths, (), ours)


def _own_locks(folder: Path, generation: Generation) -> Iterator[tuple[str, bytes]]:
    """Yield the lockfiles that `generate` writes over those of the change.

    They may remember numbers that were given and taken back before a merge.
    """
    platform = generation.checked.platform
    assert platform is not None
    there = _locks(folder, generation.manifests)
    for site in (each for each in platform.sites if each.name in there):
        path = f"{site.name}/{LOCKFILE}"
        lock = parse_lock(generation.files[path], Path(path))
        holdings, ids = given_numbers(platform, site, folder)
        again = replace(lock, holdings=tuple(sorted(holdings)), ids=tuple(sorted(ids)))
        yield path, generation.files[path] if again == lock else lock_bytes(again)


def _locks(folder: Path, names: Iterable[str]) -> dict[str, Lock]:
    """Return the locks of a tree's folders that can be read."""
    found = {name: readable_lock(folder / name) for name in names}
    return {name: lock for name, lock in found.items() if lock}
