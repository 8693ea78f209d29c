"""Write CODEOWNERS from the profiles, or compare it with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from trainyard.codeowners.block import block, overriding, replaced, without
from trainyard.codeowners.entries import PLACES, Layout, entries
from trainyard.diagnostics import Diagnostic, Note, Pointer, TreeError
from trainyard.git.worktree import enclosing_work_tree, path_in_work_tree
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.plainfile import read_regular
from trainyard.rules.change.overridden_owners import RULE as OVERRIDDEN_OWNERS
from trainyard.rules.change.stale_owners import RULE as STALE_OWNERS
from trainyard.scaffold.install import put
from trainyard.yaml_io.source import Source

_LIMIT = 3 * 1024 * 1024
"""GitHub ignores a larger file (GitHub Docs, "About code owners")."""
_NAMED = 10
"""How many lines a finding lists."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A CODEOWNERS file as it is and as the profiles state it.

    Args:
        file: where it is.
        before: empty when there is none.
        after: with the block that the profiles state, or without any when they state no owners.
        owners: whether any file has owners.
    """

    file: Path
    before: str
    after: str
    owners: bool

    @property
    def shown(self) -> str:
        """The file's path as the user named it."""
        return self.file.as_posix()

    def source(self, *, fresh: bool) -> Source:
        """Return the file that findings are about: as it is, or as it is about to be written."""
        return Source(self.shown, _bytes(self.before if fresh else self.after))


def usual_file(profiles: Path) -> Path:
    """Return the path of the CODEOWNERS file in the Git repository of the profiles.

    It is the first that a host would read; that of GitHub when there is none.
    """
    root, _ = enclosing_work_tree(profiles.parent)
    return next((root / place for place in PLACES if (root / place).is_file()), root / PLACES[0])


def owned(platform: Platform, profiles: Path, file: Path) -> Owned:
    """Return a CODEOWNERS file as it is and as the profiles state it.

    Args:
        platform: the profiles, resolved.
        profiles: their folder.
        file: CODEOWNERS; need not exist.

    Raises:
        TreeError: the file can't be read, is larger than GitHub reads, or its marks are wrong.
    """
    layout = Layout(
        path_in_work_tree(profiles) or "profiles",
        platform.settings.path,
        path_in_work_tree(file) or ".github/CODEOWNERS",
    )
    before = _read(file)
    stated = tuple(entries(platform, layout))
    after = replaced(before, block(stated)) if stated else without(before)
    return Owned(file, before, after, bool(stated))


def check_owned(it: Owned, *, fresh: bool) -> Iterator[Diagnostic]:
    """Yield the findings of a file.

    Args:
        it: the file.
        fresh: it must be what the profiles state; else it is about to be written.
    """
    if fresh and it.before != it.after:
        yield _stale(it)
    for line, pattern in overriding(it.before if fresh else it.after):
        message = f"`{pattern}` comes after the block, and may match files of it"
        yield OVERRIDDEN_OWNERS.at(Pointer(it.shown, line=line, column=1), message)


def write_owned(it: Owned) -> None:
    """Write a file in one step, unless it is what the profiles state.

    Raises:
        TreeError: it can't be written; it is what it was.
    """
    if it.before != it.after:
        put(it.file.parent, {it.file.name: _bytes(it.after)}, (), it.file.name)


def _stale(it: Owned) -> Diagnostic:
    """Return the finding that lists the first lines that are missing or extra.

    The last line that matches a file decides, so a line at another place is both.
    """
    changes = [*unified_diff(it.before.split("\n"), it.after.split("\n"), n=0, lineterm="")][2:]
    missing, extra = [], []
    for line in changes:
        if line.startswith("+"):
            missing.append(Note(f"missing: {line[1:]}"))
        elif line.startswith("-"):
            extra.append(Note(f"extra: {line[1:]}"))
    counts = f"{counted(len(missing), 'line')} missing, {len(extra)} extra"
    message = f"{it.shown} differs from the profiles: {counts}"
    notes = (*missing[:_NAMED], *extra[:_NAMED])
    return STALE_OWNERS.at(Pointer(it.shown), message, notes=notes)


def _read(file: Path) -> str:
    """Return the text of a file with its line ends; bytes that are not UTF-8 stay as they are."""
    try:
        content = read_regular(file.parent, file.name, _LIMIT)
    except FileNotFoundError:
        return ""
    except OSError as problem:
        raise TreeError(f"{file} can't be read: {problem.strerror}") from problem
    if len(content) > _LIMIT:
        raise TreeError(f"{file} is larger than 3 MB, and GitHub ignores it")
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
