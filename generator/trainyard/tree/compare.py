"""Compare the tree on disk with the generated one."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.plainfile import NotRegularError, TooLargeError, read_regular
from trainyard.tree.exchange import aside
from trainyard.tree.lockfile import LOCKFILE, Lock, digest, read_lock


@dataclass(frozen=True, slots=True)
class Comparison:
    """Differences between the tree and the generated one: sorted paths relative to the tree.

    Args:
        missing: generated, but not there.
        changed: there, but different from what is generated, be it an execute bit.
        deleted: of ours and no longer generated: the next run deletes it.
        kept: of ours and no longer generated, but edited by hand: no run deletes it.
        foreign: there, not generated and in no lockfile: no run deletes it.
    """

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def stale(self) -> int:
        """Number of files that the next run writes or deletes."""
        return len(self.missing) + len(self.changed) + len(self.deleted)

    @property
    def count(self) -> int:
        """Number of files that differ."""
        return self.stale + len(self.kept) + len(self.foreign)


def compare(target: Path, files: Mapping[str, bytes]) -> Comparison:
    """Compare the tree with the generated one; folders of other clusters are not read.

    Args:
        target: the tree, ``overlays``; it may not exist.
        files: content by path relative to the tree, the lockfiles among them.

    Raises:
        TreeError: a file or lockfile can't be read.
    """
    with reading(target):
        present = dict(walk(target, compared(target, files)))
        missing = sorted(path for path in files if path not in present)
        changed = sorted(
            path
            for path, entry in present.items()
            if path in files and not same(entry, files[path])
        )
        ours = owned(read_locks(target, present, files))
        deleted, kept, foreign = not_generated(target, present, files, ours)
    return Comparison(tuple(missing), tuple(changed), deleted, kept, foreign)


def not_generated(
    target: Path, present: Iterable[str], files: Collection[str], ours: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return files that are not generated: those to delete, edited ones of ours, and others.

    Args:
        target: folder that has the files of ours.
        present: paths of everything in the tree.
        files: paths that are generated.
        ours: digest that was written, by path.
    """
    deleted, kept, foreign = [], [], []
    for path in sorted(set(present).difference(files)):
        if path not in ours:
            foreign.append(path)
        elif _as_written(target / path, ours[path]):
            deleted.append(path)
        else:
            kept.append(path)
    return tuple(deleted), tuple(kept), tuple(foreign)


def _as_written(file: Path, sha256: str) -> bool:
    try:
        return digest(read_regular(file.parent, file.name)) == sha256
    except (NotRegularError, TooLargeError):
        return False


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


def covered(files: Mapping[str, bytes]) -> frozenset[str]:
    """Return the folders of the clusters that are generated."""
    return frozenset(path.partition("/")[0] for path in files)


def compared(target: Path, files: Mapping[str, bytes]) -> frozenset[str]:
    """Return what is at the top of the tree, but for folders of clusters that are not generated.

    A lockfile makes a folder a cluster's. Nothing reads a file at the top: it may be a page.

    Raises:
        TreeError, OSError: as `top` raises them.
    """
    generated = covered(files)
    return frozenset(
        entry.name for entry in top(target) if entry.name in generated or not _is_left_out(entry)
    )


def _is_left_out(entry: os.DirEntry[str]) -> bool:
    if entry.is_dir(follow_symlinks=False):
        return Path(entry, LOCKFILE).exists()
    return entry.is_file(follow_symlinks=False)


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


def walk(
    target: Path, folders: Collection[str] | None = None
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield everything in the tree that is not a folder, symlinks unfollowed.

    Args:
        target: the tree; nothing is yielded when it does not exist.
        folders: names at the top to look at; all when not given.
    """
    for entry in top(target):
        if folders is None or entry.name in folders:
            yield from _walk(entry, entry.name)


def _walk(entry: os.DirEntry[str], path: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    if not entry.is_dir(follow_symlinks=False):
        yield path, entry
        return
    with os.scandir(entry) as inside:
        for child in inside:
            yield from _walk(child, f"{path}/{child.name}")


def same(entry: os.DirEntry[str], content: bytes) -> bool:
    """Return whether an entry is a regular file that holds the content and can't be executed."""
    seen = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(seen.st_mode) or seen.st_mode & 0o111 or seen.st_size != len(content):
        return False
    handle = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # One byte more than expected shows a file that grew since it was looked at.
        return os.read(handle, len(content) + 1) == content
    finally:
        os.close(handle)


def read_locks(
    target: Path, present: Collection[str], files: Mapping[str, bytes]
) -> dict[str, Lock]:
    """Return the lock of each generated cluster's folder that has one.

    Raises:
        TreeError: a lockfile is broken, newer, or lists a path outside its folder.
    """
    locks = {}
    for cluster in sorted(covered(files)):
        lock = read_lock(target / cluster) if f"{cluster}/{LOCKFILE}" in present else None
        if lock:
            locks[cluster] = lock
    return locks


def owned(locks: Mapping[str, Lock]) -> dict[str, str]:
    """Return the digest that was written to each file of ours, by path relative to the tree."""
    digests = {}
    for cluster, lock in locks.items():
        for path, entry in lock.files.items():
            digests[f"{cluster}/{path}"] = entry.sha256
    return digests
