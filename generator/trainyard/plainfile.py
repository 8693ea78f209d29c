"""Read regular files up to a limit and write files, and follow no symlink."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from errno import EFBIG, EINVAL, ELOOP, ENOTDIR, ENXIO
from pathlib import Path

LARGEST = 16 << 20
"""Bytes of the largest file that a tree, its commits or profiles can have."""

_NO_FILE = frozenset({ELOOP, ENOTDIR, ENXIO})
"""The kernel's answers for a symlink as file, for one as folder, and for a socket or a device
without driver."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotRegularError(OSError):
    """The path is not a regular file, or one of its folders is a symlink."""

    def __init__(self) -> None:
        super().__init__(EINVAL, "it is not a regular file")


class TooLargeError(OSError):
    """The file has more than `LARGEST` bytes."""

    def __init__(self) -> None:
        super().__init__(EFBIG, f"it is larger than {LARGEST >> 20} MiB")


def read_regular(folder: Path, path: str, limit: int | None = None) -> bytes:
    """Return the content of a regular file.

    Args:
        folder: named by the user, who may name a symlink.
        path: of the file below the folder, with forward slashes; none of its parts may be a
            symlink.
        limit: bytes. One more byte is read, so that the caller sees that the file is larger.
            Without one, `LARGEST` is the most that is returned.

    Raises:
        NotRegularError: it is not a regular file, or a part of its path is not a folder.
        TooLargeError: no limit was given, and it is larger than any file of ours.
        OSError: it is not there, or can't be read.
    """
    with _place(folder, path) as (opened, place, name):
        handle = _open(opened, name, _FLAGS, place)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegularError
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read((LARGEST if limit is None else limit) + 1)
    if limit is None and len(content) > LARGEST:
        raise TooLargeError
    return content


def holds(file: Path, content: bytes) -> bool:
    """Return whether a path is a regular file that has the content.

    Raises:
        OSError: it is there and can't be read.
    """
    try:
        return read_regular(file.parent, file.name, len(content)) == content
    except (FileNotFoundError, NotRegularError):
        return False


def read_named(path: Path, limit: int | None = None) -> bytes:
    """Return the content of a regular file that the user names.

    A path below the current folder may be a stranger's, so none of its parts may be a symlink.

    Args:
        path: of the file; the folder of an absolute one may be a symlink.
        limit: as `read_regular` has it.

    Raises:
        NotRegularError, OSError: as `read_regular`.
    """
    return read_regular(*_parts(path), limit)


def write_named(path: Path, content: bytes) -> None:
    """Write a file that the user names, or replace its content; a device gets the content too.

    Args:
        path: as `read_named` has it.
        content: of the file.

    Raises:
        NotRegularError: it is a symlink or a folder, or a part of its path is not a folder.
        OSError: it can't be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with _place(*_parts(path)) as (opened, place, name):
        handle = _open(opened, name, flags, place)
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(content)


def _parts(path: Path) -> tuple[Path, str]:
    """Return the folder that the user vouches for, and the path below it."""
    return (path.parent, path.name) if path.is_absolute() else (Path(), path.as_posix())


@contextmanager
def _place(folder: Path, path: str) -> Iterator[tuple[ExitStack, int, str]]:
    """Open the folder of a file without following a symlink, and yield it with the file's name."""
    *above, name = path.split("/")
    with ExitStack() as opened:
        place = _open(opened, str(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, None)
        for part in above:
            place = _open(opened, part, _FLAGS | os.O_DIRECTORY, place)
        yield opened, place, name


def _open(opened: ExitStack, name: str, flags: int, within: int | None) -> int:
    try:
        handle = os.open(name, flags, 0o666, dir_fd=within)
    except OSError as problem:
        if problem.errno in _NO_FILE:
            raise NotRegularError from problem
        raise
    opened.callback(os.close, handle)
    return handle
