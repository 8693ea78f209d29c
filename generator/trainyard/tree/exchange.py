"""Replace one folder by another, so that a reader sees either the old or the new one."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

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
