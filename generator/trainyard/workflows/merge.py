"""Merge the profiles of two branches as Git merges text, without drivers or a work tree."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity, ToolError, TreeError
from trainyard.git.commits import Commit, is_shallow, merge_base
from trainyard.git.repository import Repository
from trainyard.workflows.snapshot import Places, Snapshot, take_snapshot

MERGE_CONFLICT = Rule(
    id="change/merge-conflict",
    severity=Severity.ERROR,
    summary="Base and head do not change the same lines of a profile.",
    why="""
        Git can't merge the branches by itself, so nobody knows yet what the merge will deliver. No
        check of either branch says anything about it.
    """,
    fix="""
        Merge the base into your branch, resolve the conflict in the profile, run `trainyard
        generate`, and commit.
    """,
)
RULES = (MERGE_CONFLICT,)


_File = bytes | None
"""Content of a file; None where there is none."""


def merge_profiles(
    places: Places, base: Snapshot, head: Path, commit: Commit, folder: Path
) -> Iterator[Diagnostic]:
    """Write what merging gives, and yield the profiles with conflicts; those stay as the head's.

    Args:
        places: of the platform.
        base: the branch that is merged into.
        head: folder of the other branch's profiles.
        commit: of the head, or the one that the work tree was checked out from.
        folder: temporary and empty.

    Raises:
        TreeError: a commit has something else than regular files, or both have none in common.
        ToolError: Git is missing or broken.
    """
    shutil.copytree(head, folder / "profiles", symlinks=True)
    fork = _fork(places, base.commit, commit, folder / "fork")
    for path in sorted(_files(base.profiles) | _files(fork)):
        ours, old, theirs = (_content(side / path) for side in (head, fork, base.profiles))
        if theirs in {old, ours}:
            continue
        if ours == old:
            _put(folder / "profiles" / path, theirs)
            continue
        merged = _merged(places.repository, (ours, old, theirs), folder)
        if isinstance(merged, bytes):
            _put(folder / "profiles" / path, merged)
        else:
            yield MERGE_CONFLICT.at(
                replace(merged, file=f"profiles/{path}"), _message(path, merged)
            )


def _message(path: str, at: Pointer) -> str:
    how = "in the same lines" if at.line else "and it is new or gone on one side"
    return f"base and head both change `{path}`, {how}"


def _fork(places: Places, base: Commit, head: Commit, folder: Path) -> Path:
    """Return the profiles of the newest common commit.

    Raises:
        TreeError: there is none.
    """
    folder.mkdir()
    common = merge_base(places.repository, base, head)
    if common is None:
        why = "their histories are unrelated, so Git can't merge them"
        if is_shallow(places.repository):
            why = "the history is shallow: `git fetch --unshallow`"
        raise TreeError(f"commits {base.short} and {head.short} have no common commit; {why}")
    return take_snapshot(places, common.id, folder).profiles


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _content(path: Path) -> _File:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _put(path: Path, content: _File) -> None:
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _merged(
    repository: Repository, sides: tuple[_File, _File, _File], folder: Path
) -> bytes | Pointer:
    """Return both sides' changes of a file; where they conflict, the first place in the head's.

    Args:
        repository: any; nothing is read from it.
        sides: of the head, before, and of the base.
        folder: temporary.
    """
    files = []
    for name, content in zip(("ours", "old", "theirs"), sides, strict=True):
        if content is None:
            return Pointer("")
        folder.joinpath(name).write_bytes(content)
        files.append(str(folder / name))
    try:
        return repository.read("merge-file", "--stdout", *files)
    except ToolError:
        # The exit code is the number of conflicts.
        marked = repository.read("merge-file", "--stdout", *files, accept=range(1, 128))
        return _conflict(sides[0] or b"", marked)


def _conflict(ours: bytes, marked: bytes) -> Pointer:
    """Return the line of a file at which its first conflict begins.

    Args:
        ours: the file.
        marked: what merging gives, with Git's marks around both sides.
    """
    own, lines = ours.split(b"\n"), marked.split(b"\n")
    begin = next(at for at, line in enumerate(lines) if line.startswith(b"<<<<<<< "))
    end = next(at for at, line in enumerate(lines) if at > begin and line.startswith(b"======="))
    part = lines[begin + 1 : end]
    # What the other side changed further up moves the mark, so the nearest such part is meant.
    same = (at for at in range(len(own)) if own[at : at + len(part)] == part)
    at = min(same, key=lambda at: abs(at - begin), default=0)
    return Pointer("", line=at + 1, column=len(own[at]) - len(own[at].lstrip(b" ")) + 1)
