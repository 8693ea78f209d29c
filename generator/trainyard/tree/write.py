"""Write the tree: stage it beside its place in full, then exchange both in one step."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.tree.disk import DiskTree, walk
from trainyard.tree.hold import flush, put_in_place, staging_prefix, writing
from trainyard.tree.lockfile import LOCKFILE, is_inside
from trainyard.tree.tree import Comparison, folders_of

_NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP})
"""Errors of link() on other or simple file systems, and for files of another user."""


@dataclass(frozen=True, slots=True)
class Written:
    """Changes that a run made to the tree: sorted paths relative to the tree.

    Args:
        created: new files.
        changed: files with new content.
        deleted: files of ours that are no longer generated.
        kept: files that are no longer generated and do not say any more that they are ours.
        foreign: files of others, which stay; but for those in folders of other clusters.
    """

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()


def write(target: Path, files: Mapping[str, bytes], same: Collection[str] = ()) -> Written:
    """Replace the tree by the generated one as a whole; foreign files stay.

    A tree without differences is not touched.

    The caller holds the tree (`trainyard.tree.hold.held`).

    Args:
        target: the tree, ``overlays``; its parent must exist.
        files: content by path relative to the tree, ``<cluster>/...``, the lockfiles among them.
        same: as `Tree.compare` takes it.

    Raises:
        TreeError: a path is in the way, or the disk fails; the tree is unchanged.
    """
    for path in files:
        if "/" not in path or not is_inside(path):
            message = f"{path!r} is not a path inside a cluster's folder; the tree is untouched"
            raise TreeError(message)
    found = _compare(target, files, same)
    if found.stale:
        with writing(target):
            _replace(target, files, found)
    return _written(found)


def preview(target: Path, files: Mapping[str, bytes], same: Collection[str] = ()) -> Written:
    """Return the changes that :func:`write` would make.

    Raises:
        TreeError: the tree can't be read.
    """
    return _written(_compare(target, files, same))


def _compare(target: Path, files: Mapping[str, bytes], same: Collection[str]) -> Comparison:
    """Compare the tree with the generated one.

    Raises:
        TreeError: a lockfile is broken, so that nobody knows what may be deleted.
    """
    tree = DiskTree(target)
    for cluster in sorted(folders_of(files)):
        tree.lock(cluster)
    return tree.compare(files, same=same)


def _written(found: Comparison) -> Written:
    return Written(found.missing, found.changed, found.deleted, found.kept, found.foreign)


def _replace(target: Path, files: Mapping[str, bytes], found: Comparison) -> None:
    staged = Path(tempfile.mkdtemp(prefix=staging_prefix(target), dir=target.parent))
    try:
        _stage(staged, target, files, found)
        flush(staged)
        put_in_place(staged, target)
    finally:
        # After the exchange this is the old tree, before it the unfinished new one.
        shutil.rmtree(staged, ignore_errors=True)


def _stage(staged: Path, target: Path, files: Mapping[str, bytes], found: Comparison) -> None:
    """Build the new tree.

    Generated folders come first, so that no foreign symlink takes the place of one.
    """
    _make_folders(staged, files)
    new = {*found.missing, *found.changed}
    for path in sorted(files, key=_lockfiles_last):
        if path not in new and _link(target / path, staged / path):
            continue
        _create(staged / path, files[path])
    _carry_others(staged, target, files, found.deleted)
    staged.chmod(0o755)


def _carry_others(
    staged: Path, target: Path, files: Mapping[str, bytes], deleted: Iterable[str]
) -> None:
    """Bring the files and empty folders that Trainyard does not generate into the new tree."""
    gone = {*files, *deleted}
    stay = sorted(path for path in walk(target) if path not in gone)
    try:
        _make_folders(staged, (*stay, *_in_empty_folders(target, files)))
        for path in stay:
            _carry(target / path, staged / path)
    except (FileExistsError, NotADirectoryError) as error:
        at = target / Path(error.filename2 or error.filename).relative_to(staged)
        raise TreeError(f"{at} is in the way of a generated file; the tree is untouched") from error


def _in_empty_folders(target: Path, files: Collection[str]) -> Iterator[str]:
    """Yield a path in each empty folder, which stays: a Git repository needs its empty `refs/`."""
    for folder, folders, inside in os.walk(target):
        path = Path(folder).relative_to(target).as_posix()
        if not (folders or inside or path in files):
            yield f"{path}/x"


def _lockfiles_last(path: str) -> tuple[bool, str]:
    return path.endswith(f"/{LOCKFILE}"), path


def _make_folders(staged: Path, paths: Iterable[str]) -> None:
    """Create the folders of files, with the same mode under any umask."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    for folder in sorted(folders):
        (staged / folder).mkdir(exist_ok=True)
        (staged / folder).chmod(0o755)


def _carry(old: Path, new: Path) -> None:
    if not _link(old, new):
        shutil.copy2(old, new, follow_symlinks=False)


def _link(old: Path, new: Path) -> bool:
    """Link a file, or a symlink itself, into the new tree; return whether that was possible."""
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True


def _create(place: Path, content: bytes) -> None:
    # A plain open takes half the time of Path.open over 25,000 files.
    with open(place, "xb") as file:  # noqa: PTH123
        os.fchmod(file.fileno(), 0o644)
        file.write(content)
