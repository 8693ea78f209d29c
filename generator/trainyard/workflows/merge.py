"""Merge the profiles of two branches as Git merges text, without drivers or a work tree."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity, ToolError
from trainyard.git.commits import Commit, merge_base
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
        TreeError: a commit has something else than regular files.
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
        elif (merged := _merged(places.repository, (ours, old, theirs), folder)) is not None:
            _put(folder / "profiles" / path, merged)
        else:
            at = Pointer(f"profiles/{path}")
            yield MERGE_CONFLICT.at(at, f"base and head both change `{path}`, in the same lines")


def _fork(places: Places, base: Commit, head: Commit, folder: Path) -> Path:
    """Return the profiles of the newest common commit; an empty folder when there is none."""
    folder.mkdir()
    common = merge_base(places.repository, base, head)
    return take_snapshot(places, common.id, folder).profiles if common else folder


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


def _merged(repository: Repository, sides: tuple[_File, _File, _File], folder: Path) -> _File:
    """Return both sides' changes of a file; None when they conflict.

    Args:
        repository: any; nothing is read from it.
        sides: of the head, before, and of the base.
        folder: temporary.
    """
    files = []
    for name, content in zip(("ours", "old", "theirs"), sides, strict=True):
        if content is None:
            return None
        folder.joinpath(name).write_bytes(content)
        files.append(str(folder / name))
    try:
        return repository.read("merge-file", "--stdout", *files)
    except ToolError:
        # The exit code is the number of conflicts.
        return None
