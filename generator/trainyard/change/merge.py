"""Merge the profiles of two branches as Git merges text, without drivers or a work tree."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer, ToolError, TreeError
from trainyard.git.repository import Repository
from trainyard.plainfile import NotRegularError, read_regular
from trainyard.rules.change.merge_conflict import RULE as MERGE_CONFLICT

_File = bytes | None
"""Content of a file; None where there is none."""


def merge_profiles(
    repository: Repository, fork: Path, base: Path, head: Path, folder: Path
) -> Iterator[Diagnostic]:
    """Write what merging gives, and yield the profiles with conflicts; those stay as the head's.

    Args:
        repository: any; nothing is read from it.
        fork: folder of the profiles of the newest common commit.
        base: folder of those of the branch that is merged into.
        head: folder of those of the other branch.
        folder: temporary; gets ``profiles``.

    Raises:
        TreeError: the head has something that can't be copied.
        ToolError: Git is missing or broken.
    """
    copy_profiles(head, folder / "profiles")
    for path in sorted(_files(base) | _files(fork)):
        old, theirs = _content(fork / path), _content(base / path)
        if theirs == old:
            continue
        try:
            ours = _content_of_head(head, path)
        except NotRegularError:
            yield _conflict(path, "and it is not a regular file in the head")
            continue
        if ours == old:
            _put(folder / "profiles" / path, theirs)
        elif ours != theirs:
            merged = _merged(repository, path, (ours, old, theirs), folder)
            if isinstance(merged, Diagnostic):
                yield merged
            else:
                _put(folder / "profiles" / path, merged)


def copy_profiles(head: Path, folder: Path) -> None:
    """Copy profiles; links stay links.

    Raises:
        TreeError: one is a FIFO or a socket, or can't be read.
    """
    try:
        shutil.copytree(head, folder, symlinks=True)
    except shutil.Error as problem:
        file, _, reason = problem.args[0][0]
        raise TreeError(f"{file} can't be merged: {reason}") from problem


def _conflict(path: str, how: str, line: int = 0, column: int = 0) -> Diagnostic:
    at = Pointer(f"profiles/{path}", line=line, column=column)
    return MERGE_CONFLICT.at(at, f"base and head both change `{path}`, {how}")


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _content(path: Path) -> _File:
    return read_regular(path.parent, path.name) if path.is_file() else None


def _content_of_head(folder: Path, path: str) -> _File:
    """Return the content of a file that may be hostile; nothing is read or written through links.

    Raises:
        NotRegularError: it, or a folder around it, is something else.
    """
    try:
        return read_regular(folder, path)
    except FileNotFoundError:
        return None


def _put(path: Path, content: _File) -> None:
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _merged(
    repository: Repository, path: str, sides: tuple[_File, _File, _File], folder: Path
) -> bytes | Diagnostic:
    """Return both sides' changes of a file, or their conflict at the first place in the head's.

    Args:
        repository: any; nothing is read from it.
        path: of the file below the profiles.
        sides: of the head, before, and of the base.
        folder: temporary.
    """
    files = []
    for name, content in zip(("ours", "old", "theirs"), sides, strict=True):
        if content is None:
            return _conflict(path, "and it is new or gone on one side")
        folder.joinpath(name).write_bytes(content)
        files.append(str(folder / name))
    try:
        return repository.read("merge-file", "--stdout", *files)
    except ToolError:
        # The exit code is the number of conflicts, or 255 for a file that is not text.
        marked = repository.read("merge-file", "--stdout", *files, accept=(*range(1, 128), 255))
    if not marked:
        return _conflict(path, "and it is not text")
    return _conflict(path, "in the same lines", *_place(sides[0] or b"", marked))


def _place(ours: bytes, marked: bytes) -> tuple[int, int]:
    """Return the line and column of a file at which its first conflict begins.

    Args:
        ours: the file.
        marked: what merging gives, with Git's marks around both sides.
    """
    own, lines = ours.split(b"\n"), marked.split(b"\n")
    begin = next(at for at, line in enumerate(lines) if line.startswith(b"<<<<<<< "))
    part = list(takewhile(lambda line: not line.startswith(b"======="), lines[begin + 1 :]))
    # What the other side changed further up moves the mark, so the nearest such part is meant.
    same = (line for line in range(len(own)) if own[line : line + len(part)] == part)
    at = min(same, key=lambda line: abs(line - begin), default=0)
    return at + 1, len(own[at]) - len(own[at].lstrip(b" ")) + 1
