"""Let one run at a time write: lock a folder, exchange trees, and repair what a killed run left."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trainyard.diagnostics import TreeError

_EXCHANGE = 2  # RENAME_EXCHANGE of linux/fs.h
_AT_FDCWD = -100  # of fcntl.h: paths are taken as they are

_libc = ctypes.CDLL(None, use_errno=True)


def renameat2(one: Path, other: Path) -> None:
    """Exchange two paths in one step.

    Raises:
        OSError: the kernel, the file system or the C library can't (EINVAL on some overlay and
            network file systems).
    """
    call = getattr(_libc, "renameat2", None)
    if call is None:
        raise OSError(0, "no renameat2")
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def aside(target: Path) -> Path:
    """Return where a tree is while another one takes its place, if they can't be exchanged."""
    return target.with_name(f".{target.name}.previous")


def put_in_place(staged: Path, target: Path) -> None:
    """Make the staged folder the target; whatever was the target before is then at ``staged``.

    Where folders can't be exchanged, the old one is renamed aside for a moment. A run killed in
    that moment leaves no target, and :func:`recover` brings the old one back.

    Raises:
        OSError: the target is what it was.
    """
    if not target.exists():
        staged.rename(target)
        return
    try:
        renameat2(staged, target)
    except OSError:
        _swap(staged, target)


def _swap(staged: Path, target: Path) -> None:
    try:
        target.rename(aside(target))
        staged.rename(target)
    except BaseException:
        # Ctrl-C between the two renames must not leave the user without a tree.
        recover(target)
        raise
    aside(target).rename(staged)


def recover(target: Path) -> bool:
    """Bring back the target that a killed run had renamed; return whether there was one.

    Raises:
        OSError: it can't be renamed.
    """
    lost = aside(target).exists() and not target.exists()
    if lost:
        aside(target).rename(target)
    return lost


def flush(folder: Path) -> None:
    """Write everything on the folder's file system to the disk, in one call.

    Raises:
        OSError: the disk refused.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _libc.syncfs(handle):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
    finally:
        os.close(handle)


Report = Callable[[str], None]
"""Takes a line about what a killed run had left."""

EDIT_PREFIX = ".trainyard-staging-"
"""Of the folder beside the profiles in which `add` and `init` stage what they write."""


def staging_prefix(target: Path) -> str:
    """Return the prefix of the folders in which a tree is staged, beside its place."""
    return f".{target.name}.staging-"


@contextmanager
def held(target: Path, report: Report) -> Iterator[None]:
    """Lock the tree for this run: recover it first, and leave no staging folders.

    Everything that judges the tree and then writes it belongs inside, so that it judges what it
    replaces.

    Args:
        target: the tree, ``overlays``; its parent must exist.
        report: gets a line about what a killed run had left, and about what can't be removed.

    Raises:
        TreeError: another run holds it, or it can't be recovered.
    """
    if target.name in {"", ".."}:
        raise TreeError(
            f"{target} can't be replaced as a whole; name a folder inside it, such as "
            f"{target}/overlays"
        )
    prefixes = (staging_prefix(target), aside(target).name)
    with _locked(target.parent, target):
        with writing(target):
            if recover(target):
                report(f"recovered {target}: an earlier run was ended while it replaced the tree")
            _sweep(target.parent, prefixes, report, report)
        try:
            yield
        finally:
            with writing(target):
                _sweep(target.parent, prefixes, lambda _: None, report)


@contextmanager
def editing(folder: Path, report: Report) -> Iterator[None]:
    """Lock a folder whose files are edited, and remove what a killed edit left in it.

    Args:
        folder: the profiles, or the repository of `init`.
        report: gets a line about what a killed run had left, and about what can't be removed.

    Raises:
        TreeError: another run holds it, or it can't be read.
    """
    with _locked(folder, folder):
        with writing(folder):
            _sweep(folder, (EDIT_PREFIX,), report, report)
        yield


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turn a failed system call into an error for the user.

    Raises:
        TreeError: in place of any OSError.
    """
    try:
        yield
    except OSError as error:
        raise TreeError(
            f"{target} can't be written: {error.strerror}; the tree is untouched"
        ) from error


@contextmanager
def _locked(folder: Path, target: Path) -> Iterator[None]:
    """Lock a folder; the kernel drops the lock with the process, so a killed run blocks none."""
    with writing(target):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TreeError(
                f"another run of trainyard is writing {target}; wait for it and try again"
            ) from error
        yield
    finally:
        os.close(handle)


def _sweep(folder: Path, prefixes: tuple[str, ...], removed: Report, refused: Report) -> None:
    """Remove staging folders; the lock is held, so no run is using them."""
    for left in sorted(path for path in folder.iterdir() if path.name.startswith(prefixes)):
        try:
            shutil.rmtree(left)
        except OSError as error:
            refused(
                f"{left} was left behind and can't be removed ({error.strerror}); remove it by hand"
            )
        else:
            removed(f"removed {left}, which an earlier run had left behind")
