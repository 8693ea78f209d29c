"""A repository with its committed tree, and the properties of every edit of its profiles."""

from __future__ import annotations

import difflib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.changes.edits import Edit
from tests.cli.calls import Ended
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain

Call = Callable[..., Ended]

_LOCK_PARTS = ("version", "tool", "release", "files")
"""Parts of a lockfile that follow from the profiles alone; others record earlier profiles."""

_REPORTS = "trainyard-bug-*.txt"


class Broken(AssertionError):  # noqa: N818 - it is the test's own failure
    """A property does not hold."""


class Repository:
    """A folder with profiles and the tree that was committed for them.

    Args:
        folder: folder of both, and the current folder of the calls.
        call: function that calls the command line.
        label: identifies this run in the message about a property that does not hold.
    """

    def __init__(self, folder: Path, call: Call, label: str) -> None:
        self.folder = folder
        self._call = call
        self._label = label
        self._history: list[str] = []
        self.profiles = contents(folder / "profiles")
        assert not any(call(each).code for each in ("generate", "verify"))
        self.base = self.profiles
        self.tree = contents(folder / "overlays")

    def documents(self) -> dict[str, Plain]:
        """Return each profile that has a schema, as plain data; unreadable ones are left out."""
        found = {
            file: read(file, content)[0].value
            for file, content in self.profiles.items()
            if is_profile(file)
        }
        return {file: value for file, value in found.items() if isinstance(value, dict)}

    def apply(self, *edits: Edit) -> bool:
        """Edit profiles and try every command; return whether the edits are accepted.

        Refused edits are undone.
        """
        before = self.profiles
        after = dict(before)
        for each in edits:
            after.pop(each.file, None)
            if each.after is not None:
                after[each.file] = emit(each.after)
        if before is self.base:
            self._history.clear()
        self._history += [_described(each) for each in edits]
        self._put(after)
        accepted = self._try(page=len(edits) > 1)
        if not accepted:
            self._put(before)
            self._history.append("refused, so these profiles were restored")
        return accepted

    def revert(self) -> bool:
        """Restore the first profiles; return whether that is accepted.

        Afterwards the tree is the first one again.
        """
        self._history.append("all profiles were restored to the beginning")
        tree = contents(self.folder / "overlays")
        self._put(self.base)
        accepted = self._run("generate").code == 0
        after = contents(self.folder / "overlays")
        if accepted:
            files = sorted(self.tree.keys() | after.keys())
            differ = [file for file in files if not _same(file, self.tree, after)]
            self._hold(not differ, f"the revert was accepted, but these files differ: {differ}")
            self._hold(self._run("generate", "--check").code == 0, "--check fails after the revert")
        else:
            self._hold(after == tree, "generate refused the revert, and still wrote files")
        self.reset()
        return accepted

    def reset(self) -> None:
        """Restore the first profiles and the first tree, without a command."""
        self._put(self.base)
        if contents(self.folder / "overlays") != self.tree:
            shutil.rmtree(self.folder / "overlays")
            write(self.folder / "overlays", self.tree)
        for report in self.folder.glob(_REPORTS):
            report.unlink()
        self._history.clear()

    def _try(self, *, page: bool) -> bool:
        """Try every command on the edited profiles and the tree that was committed before.

        Args:
            page: whether `report` is tried too; it takes as long as all others.
        """
        tree = contents(self.folder / "overlays")
        self._run("capacity")
        shown = self._run("report", "--out", os.devnull) if page else None
        valid, stale, written = self._run("validate"), self._run("verify"), self._run("generate")
        after = contents(self.folder / "overlays")
        self._hold(
            shown is None or shown.code == stale.code,
            f"report ends with {shown and shown.code}, verify with {stale.code}",
        )
        self._hold(
            valid.code in {0, written.code},
            f"validate ends with {valid.code}, generate with {written.code}",
        )
        if written.code:
            self._hold(
                stale.code != 0,
                f"verify accepts profiles that generate refuses:\n{written.out}{written.err}",
            )
            self._hold(after == tree, "generate failed, and still wrote files")
            return False
        self._hold(
            stale.code == 0 or after != tree, "verify refuses a tree that generate did not change"
        )
        self._try_again(after)
        return True

    def _try_again(self, tree: dict[str, bytes]) -> None:
        """Run commands on a generated tree, which must accept it and change nothing."""
        for command in (("generate", "--check"), ("verify",), ("generate",)):
            again = self._run(*command)
            self._hold(
                again.code == 0,
                f"{command} ends with {again.code} after generate:\n{again.out}{again.err}",
            )
        self._hold(
            contents(self.folder / "overlays") == tree, "generate changed files the second time"
        )

    def _run(self, *command: str) -> Ended:
        ended = self._call(*command)
        nothing = not any(file.startswith("clusters/") for file in self.profiles)
        self._hold(
            ended.code in {0, 1} or (ended.code == 3 and nothing),
            f"{command}: {ended}{self._reports()}",
        )
        return ended

    def _put(self, profiles: dict[str, bytes]) -> None:
        for file in self.profiles.keys() - profiles.keys():
            path = self.folder / "profiles" / file
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
        changed = dict(profiles.items() - self.profiles.items())
        write(self.folder / "profiles", changed)
        self.profiles = profiles

    def _reports(self) -> str:
        texts = (path.read_text(encoding="utf-8") for path in self.folder.glob(_REPORTS))
        return "".join(f"\n{text}" for text in texts)

    def _hold(self, holds: bool, message: str) -> None:
        if not holds:
            raise Broken("\n".join([f"{self._label}: {message}", "", *self._history]))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder, by relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for file, content in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)


def is_profile(file: str) -> bool:
    """Return whether a file below ``profiles/`` has a schema."""
    return not file.startswith("components/") or file.endswith("/kustomization.yaml")


def _same(file: str, one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
    """Return whether a file is the same in two trees; lockfiles are compared by some parts."""
    if file.endswith("/trainyard.lock") and file in one and file in other:
        first, second = json.loads(one[file]), json.loads(other[file])
        return all(first[part] == second[part] for part in _LOCK_PARTS)
    return one.get(file) == other.get(file)


def _described(edit: Edit) -> str:
    """Return an edit as a diff."""
    old, new = _lines(edit.before), _lines(edit.after)
    lines = difflib.unified_diff(old, new, edit.file, edit.file, n=1, lineterm="")
    return "\n".join([f"{edit.key} {edit.action}:", *lines])


def _lines(profile: Plain) -> list[str]:
    return [] if profile is None else emit(profile).decode().splitlines()
