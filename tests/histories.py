"""Histories of committed trees, step by step as an administrator makes them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainyard.cli.main import run
from trainyard.tree.lockfile import read_lock


@dataclass(frozen=True)
class History:
    """A Git repository in the current folder, and the command line called inside it."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def git(self, *args: str) -> str:
        """Run Git."""
        who = (
            "-c",
            "user.name=admin",
            "-c",
            "user.email=admin@example.com",
            "-c",
            "commit.gpgsign=false",
        )
        done = subprocess.run(
            ["git", *who, *args], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout

    def trainyard(self, *args: str) -> tuple[int, str]:
        """Call the command line, and return its exit code and what it printed."""
        self.capsys.readouterr()
        code = run(args)
        return code, self.capsys.readouterr().out

    def write(self, file: str, change: Callable[[str], str]) -> None:
        """Change a profile, which must differ then."""
        path = self.folder / "profiles" / file
        before = path.read_text(encoding="utf-8")
        after = change(before)
        assert after != before
        path.write_text(after, encoding="utf-8")

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text that is there in a profile."""
        self.write(file, lambda text: text.replace(old, new))

    def put(self, team: str, state: str) -> None:
        """Set the state of a team."""
        self.write(
            f"teams/{team}.yaml",
            lambda text: re.sub("(?m)^state: .*\n", "", text) + f"state: {state}\n",
        )

    def drop_line(self, team: str) -> str:
        """Delete the line of a team from the ledger, and return it."""
        text = (self.folder / "profiles" / "allocations.yaml").read_text(encoding="utf-8")
        (line,) = re.findall(f"    {team}: .*\n", text)
        self.edit("allocations.yaml", line, "")
        return str(line)

    def insert(self, line: str) -> None:
        """Write a line into the ledger's part of the fabric."""
        self.edit("allocations.yaml", "  ib:\n", f"  ib:\n{line}")

    def add(self, team: str, nodes: int = 2) -> str:
        """Add a team, and return its line of the fabric in the ledger."""
        code, out = self.trainyard("add", "team", team, "--nodes", str(nodes))
        assert code == 0, out
        text = (self.folder / "profiles" / "allocations.yaml").read_text(encoding="utf-8")
        (line,) = re.findall(f"    {team}: .*\n", text)
        return str(line)

    def commit(self) -> None:
        """Generate and commit, so that the tree equals the generated one."""
        code, out = self.trainyard("generate")
        assert code == 0, out
        self.git("add", "--all")
        self.git("commit", "--message", "change")
        assert self.trainyard("generate", "--check")[0] == 0
        assert self.git("status", "--porcelain") == ""

    def refused(self, *rules: str) -> None:
        """See that nothing generates this change, and that no byte of the tree changes."""
        for option in ((), ("--check",), ("--dry-run",)):
            code, out = self.trainyard("generate", *option)
            assert code == 1, out
            assert set(re.findall(r"^error\[(.*?)\]", out, re.MULTILINE)) == set(rules), out
        assert self.git("status", "--porcelain", "overlays") == ""

    def unchanged(self) -> None:
        """Assert that the tree equals the generated one, and that generating changes nothing."""
        assert self.trainyard("generate")[0] == 0
        assert self.git("status", "--porcelain") == ""

    def uids(self) -> list[tuple[str, int, bool]]:
        """Return what the lockfile remembers of user ids: namespace, first id, and whether it had
        them."""
        lock = read_lock(self.folder / "overlays" / "lab")
        assert lock is not None
        return [(ids.namespace, ids.first, ids.former) for ids in lock.ids]

    def restore(self) -> None:
        """Restore the committed files."""
        self.git("restore", ".")
        self.git("clean", "-qfd")

    def revert(self) -> None:
        """Revert the last change of the profiles, generate and commit."""
        self.git("restore", "--source", "HEAD~1", "profiles")
        self.commit()

    def numbers(self) -> dict[str, list[tuple[str, bool]]]:
        """Return what the lockfile remembers: each team's partitions, and whether it had them."""
        lock = read_lock(self.folder / "overlays" / "lab")
        assert lock is not None
        found: dict[str, list[tuple[str, bool]]] = {}
        for holding in lock.holdings:
            found.setdefault(holding.team, []).append(
                (holding.link.display(holding.segment), holding.former)
            )
        return found


def begin(folder: Path, capsys: pytest.CaptureFixture[str]) -> History:
    """Return the repository of `init` with two teams of two nodes, committed; its pool promises
    eight nodes."""
    begun = History(folder, capsys)
    assert begun.trainyard("init")[0] == 0
    begun.edit("clusters/lab.yaml", "nodes: 5", "nodes: 9")
    begun.git("init", "--quiet")
    begun.add("nlp")
    begun.add("audio")
    begun.commit()
    return begun
