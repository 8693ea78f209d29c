"""The committed tree of a commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.git.objects import Commit, Listing, blob_id
from trainyard.git.repository import Repository, list_folder, read_files
from trainyard.tree.lockfile import LOCKFILE, Lock, is_inside, parse_lock
from trainyard.tree.tree import Tree


@dataclass(frozen=True, slots=True)
class CommitTree(Tree):
    """The tree of a commit.

    Args:
        listing: its entries, by path below the tree.
        ids: Git's id of each entry by path, by the folder at the top; empty for what Trainyard
            never writes: a link, an executable.
        lockfiles: content of each, by cluster.
    """

    repository: Repository
    commit: Commit
    listing: Listing
    ids: Mapping[str, Mapping[str, str]]
    lockfiles: Mapping[str, bytes]

    def folders(self) -> frozenset[str]:
        """Return what is at the top, but for regular files."""
        return frozenset(self.ids.keys() - self.listing.files.keys())

    def paths(self, folders: Collection[str]) -> Iterator[str]:
        """Yield everything below some names at the top that is not a folder."""
        for folder in folders:
            yield from self.ids.get(folder, ())

    def holding(self, files: Mapping[str, bytes]) -> frozenset[str]:
        """Return those of some paths that hold the content and can't be executed."""
        return frozenset(
            path
            for path, content in files.items()
            if self._id(path) == blob_id(content, self.commit)
        )

    def _id(self, path: str) -> str:
        return self.ids.get(path.partition("/")[0], {}).get(path, "")

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the content of those paths that are regular files."""
        files = self.listing.files
        wanted = {path: files[path] for path in paths if path in files}
        yield from read_files(self.repository, wanted)

    def place(self, path: str) -> Path:
        """Return the path from the root of a platform."""
        return Path("overlays", path)

    def clusters(self) -> list[str]:
        """Return the folders that have a lockfile, sorted."""
        return sorted(self.lockfiles)

    def lock(self, cluster: str) -> Lock | None:
        """Return the lock of a cluster; None when it has none."""
        content = self.lockfiles.get(cluster)
        return None if content is None else parse_lock(content, self.place(f"{cluster}/{LOCKFILE}"))

    def require_locks(self, clusters: Iterable[str]) -> None:
        """Refuse nothing: no run replaces the tree of a commit."""

    def differs(self, cluster: str, base: Tree) -> bool:
        """Return whether any entry of a cluster's folder is another in a commit."""
        assert isinstance(base, CommitTree)
        return self.ids.get(cluster, {}) != base.ids.get(cluster, {})


def tree_of(repository: Repository, commit: Commit, folder: str) -> CommitTree:
    """Return the tree of a commit.

    Args:
        repository: that has the commit.
        commit: whose tree it is.
        folder: of the tree, from the root of the repository.

    Raises:
        TreeError: a lockfile has a path that no run of Trainyard writes.
        ToolError: Git is missing or broken.
    """
    listing = list_folder(repository, commit, folder)
    wanted = {path: blob for path, blob in listing.files.items() if path.endswith(f"/{LOCKFILE}")}
    for path in wanted:
        if not is_inside(path):
            raise impossible_path(commit, path)
    lockfiles = {}
    for path, content in read_files(repository, wanted):
        cluster, _, name = path.partition("/")
        if name == LOCKFILE:
            lockfiles[cluster] = content
    return CommitTree(repository, commit, listing, _ids(listing), lockfiles)


def _ids(listing: Listing) -> dict[str, dict[str, str]]:
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    for path, blob in listing.files.items():
        ids[path.partition("/")[0]][path] = "" if blob.executable else blob.id
    for path in listing.links:
        ids[path.partition("/")[0]][path] = ""
    return dict(ids)


def impossible_path(commit: Commit, path: str) -> TreeError:
    """Return the error about a path that leads out of its folder."""
    return TreeError(f"commit {commit.short} has a file with the impossible path {path!r}")
