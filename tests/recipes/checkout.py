"""A copy of this repository in which a recipe of CONTRIBUTING is followed, and what its page says.

The commands that a test types are those of the page: it fails if it types another, or leaves one
out without a reason. `make` runs as it is. Of the tests that it starts only those run that a
recipe names (``PYTEST_ADDOPTS``): all of them need minutes, and test the same in the checkout.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.pages import BLOCK, ROOT, call, done
from tests.recipes.modules import OFFLINE

PAGE = ROOT / "CONTRIBUTING.md"
_PROGRAMS = ("cp", "diff", "grep", "make", "pytest", "trainyard")
FRESH = (
    "tests/test_docs.py::test_reference_is_what_the_code_says",
    "tests/test_shipped.py::test_list_is_that_of_the_files",
    "tests/test_architecture.py::test_every_module_says_what_it_is_for",
)
"""Tests that each recipe ends with: what is written has been written, and says what it is for."""
_SPAN = re.compile(rf"`((?:{'|'.join(_PROGRAMS)}) [^`]+)`")
_CHANGED = re.compile(r"^.. (.+)$", re.MULTILINE)


def section(title: str) -> str:
    """Return the text of a recipe."""
    _, _, text = PAGE.read_text("utf-8").partition(f"\n## {title}\n")
    assert text, f"CONTRIBUTING has no recipe {title!r}"
    return text.partition("\n## ")[0]


def commands(title: str) -> list[str]:
    """Return the commands of a recipe in their order: those of its blocks, and of its sentences."""
    return list(_commands(section(title)))


def _commands(text: str) -> Iterator[str]:
    begin = 0
    for block in BLOCK.finditer(text):
        yield from _SPAN.findall(text[begin : block.start()])
        lines = (line.strip() for line in block[2].splitlines())
        yield from (line.removeprefix("$ ") for line in lines if line.startswith("$ "))
        begin = block.end()
    yield from _SPAN.findall(text[begin:])


class Checkout:
    """A recipe that is followed in a copy.

    Args:
        folder: where the copy is made.
        title: of the recipe.
    """

    def __init__(self, folder: Path, title: str) -> None:
        self.folder = folder / "trainyard"
        self.by_hand: set[str] = set()
        """Files that a developer has written, without those that a command then writes anew."""
        self._left = commands(title)
        tracked = done(ROOT, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
        for name in filter(None, tracked.split("\0")):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).exists():
                shutil.copy2(ROOT / name, self.folder / name, follow_symlinks=False)
        for name, origin in ((".venv", Path(sys.prefix)), (".tools", ROOT / ".tools")):
            (self.folder / name).symlink_to(origin)
        if (ROOT / ".mypy_cache").exists():
            shutil.copytree(ROOT / ".mypy_cache", self.folder / ".mypy_cache")
        done(self.folder, "git", "init", "--quiet")
        done(self.folder, "git", "add", "--all")
        done(self.folder, "git", "commit", "--quiet", "--message", "Before the recipe")

    def write(self, path: str, text: str) -> None:
        """Write a new file by hand."""
        assert not (self.folder / path).exists(), path
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        self._write(path, text)

    def insert(self, path: str, line: str, text: str) -> None:
        """Add text by hand below the only line of a file that is as given."""
        lines = (self.folder / path).read_text("utf-8").splitlines(keepends=True)
        assert lines.count(f"{line}\n") == 1, f"{line!r} is not once in {path}"
        lines.insert(lines.index(f"{line}\n") + 1, text)
        self._write(path, "".join(lines))

    def replace(self, path: str, old: str, new: str, most: int = -1) -> None:
        """Replace a part of a file by hand, each time that it is there, or the first times only."""
        text = (self.folder / path).read_text("utf-8")
        assert old in text, f"{old!r} is not in {path}"
        self._write(path, text.replace(old, new, most))

    def _write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, "utf-8")
        self.by_hand.add(path)

    def note(self, line: str) -> None:
        """Add a line to the changelog."""
        self.insert("CHANGELOG.md", "## [Unreleased]", f"\n### Added\n\n- {line}\n")

    def type(self, command: str, tests: Sequence[str] = (), folder: str = "") -> str:
        """Type a command of the page, and return what it prints.

        Args:
            command: as the page has it.
            tests: files or folders that pytest runs; those of the command when empty.
            folder: below the copy.
        """
        self.leave_out(command)
        return self.run(command, tests, folder)

    def run(self, command: str, tests: Sequence[str] = (), folder: str = "") -> str:
        """Run a command in the copy, and return what it prints; it must end with 0."""
        variables = {**OFFLINE, "PYTEST_ADDOPTS": shlex.join(tests), **self._paths()}
        return done(self.folder / folder, "bash", "-euc", self._made(command), **variables)

    def fails(self, command: str) -> str:
        """Run a command in the copy that must fail, and return what it prints."""
        ended = call(self.folder, "bash", "-euc", self._made(command), **self._paths())
        assert ended.returncode != 0, ended.stdout
        return ended.stdout

    def leave_out(self, command: str) -> None:
        """Tick a command of the page off."""
        assert command in self._left, f"{command!r} is not, or no more, in {self._left}"
        self._left.remove(command)

    def done(self, *, most: int, but: Iterable[str] = ()) -> None:
        """Check that a recipe is at its end: no command is left, and few files are by hand.

        Args:
            most: files that a developer writes or edits.
            but: commands that only a rehearsal or a network could run.
        """
        for command in but:
            self.leave_out(command)
        assert self._left == []
        assert len(self.by_hand) <= most, sorted(self.by_hand)
        for path in self.by_hand:
            assert path in self.changed(), f"{path} is as it was"

    def changed(self) -> set[str]:
        """Return the files that are not as they were before the recipe."""
        status = done(self.folder, "git", "status", "--porcelain", "--untracked-files=all")
        return set(_CHANGED.findall(status))

    def _paths(self) -> dict[str, str]:
        generator = f"{self.folder}/generator"
        return {
            "PYTHONPATH": f"{self.folder}:{generator}",
            "PATH": f"{self.folder}/.venv/bin:{self.folder}/.tools/bin",
        }

    def _made(self, command: str) -> str:
        """Return a command that takes the environment for installed, whatever its date."""
        old = "make -o .venv/.installed -o .tools/.installed"
        return re.sub(r"^make\b", old, command)
