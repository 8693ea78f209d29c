"""A repository with its committed tree, and what must hold whenever its profiles are edited."""

from __future__ import annotations

import difflib
import json
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
"""Parts of a lockfile that follow from the profiles alone. It may also remember what earlier
profiles said."""

_REPORTS = "trainyard-bug-*.txt"


class Broken(AssertionError):  # noqa: N818 - it is the test's own failure
    """A property does not hold."""


class Repository:
    """A folder with profiles and the tree that was committed for them.

    Args:
        folder: where both are; the current folder of the calls.
        call: calls the command line.
        label: what tells this run from others when a property does not hold.
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
        """Return each profile that has a schema, as plain data; one that can't be read is left
        out."""
        found = {
            file: read(file, content)[0].value
            for file, content in self.profiles.items()
            if is_profile(file)
        }
        return {file: value for file, value in found.items() if isinstance(value, dict)}

    def apply(self, *edits: Edit) -> bool:
        """Edit profiles and try every command; tell whether the edit was accepted. A refused one is
        undone."""
        before = self.profiles
        after = dict(before)
        for each in edits:
            after.pop(each.file, None)
            if each.after is not None:
                after[each.file] = emit(each.after)
        if before is self.base:
            self._history.clear()
        self._history += [_told(each) for each in edits]
        self._put(after)
        accepted = self._try()
        if not accepted:
            self._put(before)
            self._history.append("refused, so these profiles are again what they were")
        return accepted

    def revert(self) -> bool:
        """Bring back the profiles of the beginning; tell whether that is accepted. The tree is then
        what it was."""
        self._history.append("all profiles are again what they were at the beginning")
        tree = contents(self.folder / "overlays")
        self._put(self.base)
        accepted = self._run("generate").code == 0
        after = contents(self.folder / "overlays")
        if accepted:
            differ = [
                file
                for file in self.tree.keys() | after.keys()
                if not _same(file, self.tree, after)
            ]
            self._hold(
                not differ, f"the revert was accepted, but these files differ: {sorted(differ)}"
            )
            self._hold(self._run("generate", "--check").code == 0, "--check fails after the revert")
        else:
            self._hold(after == tree, "generate refused the revert and wrote all the same")
        self.reset()
        return accepted

    def reset(self) -> None:
        """Put everything to what it was at the beginning, without a command."""
        self._put(self.base)
        if contents(self.folder / "overlays") != self.tree:
            shutil.rmtree(self.folder / "overlays")
            write(self.folder / "overlays", self.tree)
        for report in self.folder.glob(_REPORTS):
            report.unlink()
        self._history.clear()

    def _try(self) -> bool:
        """Try every command on the edited profiles and the tree that was committed before."""
        tree = contents(self.folder / "overlays")
        valid, stale, written = self._run("validate"), self._run("verify"), self._run("generate")
        after = contents(self.folder / "overlays")
        self._hold(
            valid.code in {0, written.code},
            f"validate ends with {valid.code}, generate with {written.code}",
        )
        if written.code:
            self._hold(
                stale.code != 0,
                f"verify accepts what generate refuses:\n{written.out}{written.err}",
            )
            self._hold(after == tree, "generate was refused and wrote all the same")
            return False
        self._hold(
            stale.code == 0 or after != tree, "verify refuses a tree that generate did not change"
        )
        for command in (("generate", "--check"), ("verify",), ("generate",)):
            again = self._run(*command)
            self._hold(
                again.code == 0,
                f"{command} ends with {again.code} after generate:\n{again.out}{again.err}",
            )
        self._hold(
            contents(self.folder / "overlays") == after, "generate wrote something the second time"
        )
        return True

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
        write(
            self.folder / "profiles",
            {
                file: content
                for file, content in profiles.items()
                if self.profiles.get(file) != content
            },
        )
        self.profiles = profiles

    def _reports(self) -> str:
        return "".join(
            f"\n{path.read_text(encoding='utf-8')}" for path in self.folder.glob(_REPORTS)
        )

    def _hold(self, holds: bool, message: str) -> None:
        if not holds:
            raise Broken("\n".join([f"{self._label}: {message}", "", *self._history]))


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its path there."""
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
    """Tell whether a file below ``profiles/`` has a schema."""
    return not file.startswith("components/") or file.endswith("/kustomization.yaml")


def _same(file: str, one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
    if (
        one.get(file) == other.get(file)
        or not file.endswith("/trainyard.lock")
        or file not in one
        or file not in other
    ):
        return one.get(file) == other.get(file)
    parts = [{part: json.loads(each[file])[part] for part in _LOCK_PARTS} for each in (one, other)]
    return parts[0] == parts[1]


def _told(edit: Edit) -> str:
    """Return an edit as a person would review it."""
    old, new = (
        emit(each).decode() if each is not None else "" for each in (edit.before, edit.after)
    )
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), edit.file, edit.file, n=1, lineterm=""
    )
    return "\n".join([f"{edit.key} {edit.action}:", *lines])
