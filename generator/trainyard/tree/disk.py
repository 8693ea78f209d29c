"""The committed tree on disk."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.plainfile import LARGEST, NotRegularError, TooLargeError, read_regular
from trainyard.tree.hold import aside
from trainyard.tree.lockfile import LOCKFILE, Lock, is_marked, read_lock
from trainyard.tree.tree import Comparison, Tree, folders_of

_NO_FILE = frozenset({errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.ENXIO})
"""The kernel's answers for a link, for nothing, for a file as folder, and for a socket."""
_OURS = frozenset({"argocd", "platform"})
"""Folders of each cluster's tree."""


@dataclass(frozen=True, slots=True)
class DiskTree(Tree):
    """The tree on disk; it may not exist.

    Args:
        folder: of the tree.
    """

    folder: Path

    def folders(self) -> frozenset[str]:
        """Return what is at the top, but for regular files."""
        with reading(self.folder):
            return frozenset(
                entry.name for entry in top(self.folder) if not entry.is_file(follow_symlinks=False)
            )

    def paths(self, folders: Collection[str]) -> Iterator[str]:
        """Yield everything below some names at the top that is not a folder."""
        with reading(self.folder):
            yield from walk(self.folder, folders)

    def holding(self, files: Mapping[str, bytes]) -> frozenset[str]:
        """Return those of some paths that hold the content and can't be executed."""
        with reading(self.folder):
            return frozenset(
                path
                for path, content in files.items()
                if _holds(f"{self.folder}{os.sep}{path}", content)
            )

    def contents(self, cluster: str, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the content of some files of a cluster; nothing if one is not a file of ours.

        Args:
            cluster: its folder.
            paths: below that folder.
        """
        folder = f"{self.folder}{os.sep}{cluster}{os.sep}"
        found = {}
        with reading(self.folder):
            for path in paths:
                content = _content(folder + path, LARGEST)
                if content is None:
                    return {}
                found[path] = content
        return found

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the content of those paths that are files.

        Raises:
            TreeError: one is a link to a file, too large, or can't be read.
        """
        for path in paths:
            file = self.folder / path
            with reading(file):
                content = self._content(path) if file.is_file() else None
            if content is not None:
                yield path, content

    def marked(self, paths: Iterable[str]) -> frozenset[str]:
        """Return those of some paths that say so; what is not a file of ours does not."""
        found = set()
        for path in paths:
            with reading(self.folder), suppress(NotRegularError, TooLargeError):
                if is_marked(self._content(path)):
                    found.add(path)
        return frozenset(found)

    def _content(self, path: str) -> bytes:
        """Return the content of a regular file; only its cluster's folder may be a link."""
        cluster, _, inside = path.partition("/")
        return read_regular(self.folder / cluster, inside)

    def place(self, path: str) -> Path:
        """Return the file."""
        return self.folder / path

    def clusters(self) -> list[str]:
        """Return the folders that have a lockfile, sorted."""
        with reading(self.folder):
            return [
                entry.name
                for entry in top(self.folder)
                if entry.is_dir() and Path(entry, LOCKFILE).exists()
            ]

    def lock(self, cluster: str) -> Lock | None:
        """Return the lock of a cluster; None when it has none."""
        return read_lock(self.folder / cluster)

    def differs(self, cluster: str, base: Tree) -> bool:
        """Return whether any entry of a cluster's folder is another on disk."""
        paths = frozenset(self.paths([cluster]))
        if paths != frozenset(base.paths([cluster])):
            return True
        prefix = f"{cluster}/"
        files = self.contents(cluster, [path.removeprefix(prefix) for path in paths])
        return base.holding({prefix + path: files[path] for path in files}) != paths

    def compare(
        self,
        files: Mapping[str, bytes],
        others: Collection[str] | None = None,
        same: Collection[str] = (),
    ) -> Comparison:
        """Compare the tree with a generated one.

        Args:
            files: content by path, the lockfiles among them.
            others: folders at the top that are not looked at; those of clusters that were not
                generated when not given.
            same: as `Tree.compare` takes it.
        """
        if others is None:
            clusters = frozenset(self.clusters()) - folders_of(files)
            others = [name for name in clusters if not (self.folder / name).is_symlink()]
        return Tree.compare(self, files, others, same)

    def require_locks(self, clusters: Iterable[str]) -> None:
        """Refuse a tree that lost a lockfile: the numbers of former teams could be given away.

        Raises:
            TreeError: a folder has generated files and no lockfile.
        """
        for cluster in clusters:
            folder = self.folder / cluster
            with reading(self.folder):
                present = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
            if LOCKFILE not in present and not present.isdisjoint(_OURS):
                raise TreeError(
                    f"{folder} has generated files and no {LOCKFILE}, so the numbers that were "
                    f"given are unknown; restore {folder / LOCKFILE} from Git, or remove the "
                    "folder if it was never merged"
                )


@contextmanager
def reading(target: Path) -> Iterator[None]:
    """Turn a failed read of the tree into an error for the user.

    Raises:
        TreeError: in place of any OSError.
    """
    try:
        yield
    except OSError as error:
        raise TreeError(f"{error.filename or target} can't be read: {error.strerror}") from error


def top(target: Path) -> list[os.DirEntry[str]]:
    """Return what is at the top of the tree, sorted by name; nothing when there is no tree.

    Raises:
        TreeError: the tree is a symlink, or it is not in its place since a run was killed.
        OSError: it can't be listed.
    """
    if target.is_symlink():
        raise TreeError(f"{target} is a symlink; name the folder itself")
    try:
        return sorted(os.scandir(target), key=lambda entry: entry.name)
    except FileNotFoundError as error:
        previous = aside(target)
        if previous.exists():
            raise TreeError(
                f"{target} is missing: a run was ended while it replaced the tree, which is now "
                f"{previous}; run `trainyard generate` to recover it"
            ) from error
        return []


def walk(target: Path, folders: Collection[str] | None = None) -> Iterator[str]:
    """Yield the path of everything in the tree that is not a folder, symlinks unfollowed.

    Args:
        target: the tree; nothing is yielded when it does not exist.
        folders: names at the top to look at; all when not given.
    """
    for entry in top(target):
        if folders is None or entry.name in folders:
            yield from _walk(entry, entry.name)


def _walk(entry: os.DirEntry[str], path: str) -> Iterator[str]:
    if not entry.is_dir(follow_symlinks=False):
        yield path
        return
    with os.scandir(entry) as inside:
        for child in inside:
            yield from _walk(child, f"{path}/{child.name}")


def _holds(file: str, content: bytes) -> bool:
    """Return whether a path is a regular file that holds the content and can't be executed."""
    return _content(file, len(content)) == content


def _content(file: str, limit: int) -> bytes | None:
    """Return the content of a regular file that can't be executed, and None of anything else.

    One byte more than the limit shows a file that is larger.
    """
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise
    try:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode) or seen.st_mode & 0o111 or seen.st_size > limit:
            return None
        return os.read(handle, seen.st_size + 1)
    finally:
        os.close(handle)
