"""Two everyday pull requests at once: Git merges their trees to what `generate` writes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest

from tests.everyday import PULL_REQUESTS, Edit
from trainyard.diagnostics import Severity
from trainyard.generation.generate import generate

pytestmark = [pytest.mark.thorough, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parents[1]

_ONE_PAGE = "the team's page has a table of its runtimes, and a sentence with those that restart"

CONFLICTS: Mapping[tuple[str, str], str] = {
    ("viewers of medical", "namespace of medical"): "the new namespace needs the new group's role",
    ("version of finetune", "version of grpo"): _ONE_PAGE,
    ("version of finetune", "version of torchrun"): _ONE_PAGE,
    ("team radio", "team rain"): "no team is between both in any list of teams",
}
"""Pairs that Git can't merge, each with the reason. `trainyard resolve` solves them."""

_NEW_PATH = "the new namespace needs the new network path"
STALE: Mapping[tuple[str, str], str] = {
    ("namespace of medical", "egress of lab"): _NEW_PATH,
    ("namespace of science", "egress of lab"): _NEW_PATH,
    ("egress of lab", "team audio"): _NEW_PATH,
    ("egress of lab", "team radio"): _NEW_PATH,
    ("egress of lab", "team rain"): _NEW_PATH,
}
"""Pairs that Git merges although they need an object that neither side has. The workflow of the
merged commit says so, or that of a merge queue before (`trainyard generate --check`)."""


class Merges:
    """The pull requests as branches of a repository of their own."""

    def __init__(self, folder: Path, edits: Mapping[str, Edit]) -> None:
        self.folder = folder
        self.branches = {title: title.replace(" ", "-") for title in edits}
        shutil.copytree(REPOSITORY / "profiles", folder / "profiles")
        self._git("init", "--quiet", "--initial-branch=main")
        self._commit()
        for title, edit in edits.items():
            self._git("checkout", "--quiet", "-b", self.branches[title], "main")
            edit(folder / "profiles")
            self._commit()

    def merged(self, one: str, other: str) -> str:
        """Return the id of the merged tree; nothing where Git finds a conflict."""
        names = self.branches[one], self.branches[other]
        done = self._run("merge-tree", "--write-tree", *names)
        return "" if done.returncode else done.stdout.strip()

    def is_what_generate_writes(self, tree: str, scratch: Path) -> bool:
        """Return whether a tree's overlays are those of its profiles."""
        scratch.mkdir()
        archive = scratch / "profiles.tar"
        self._git("archive", f"--output={archive}", tree, "profiles")
        shutil.unpack_archive(archive, scratch, filter="data")
        listed = (
            line.split() for line in self._git("ls-tree", "-r", tree, "overlays").splitlines()
        )
        committed = {path.removeprefix("overlays/"): id_ for _, _, id_, path in listed}
        files = _generated(scratch / "profiles")
        return committed == {path: _blob(content) for path, content in files.items()}

    def _commit(self) -> None:
        overlays = self.folder / "overlays"
        shutil.rmtree(overlays, ignore_errors=True)
        for path, content in _generated(self.folder / "profiles").items():
            (overlays / path).parent.mkdir(parents=True, exist_ok=True)
            (overlays / path).write_bytes(content)
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--message=change")

    def _git(self, *arguments: str) -> str:
        done = self._run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        who = ("-c", "user.name=admin", "-c", "user.email=admin@example.com")
        return subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, check=False, capture_output=True, text=True
        )


def _generated(profiles: Path) -> Mapping[str, bytes]:
    generation = generate(profiles, "../profiles/components", today="2026-11-21")
    errors = [each for each in generation.diagnostics if each.severity is Severity.ERROR]
    assert errors == []
    return generation.files


def _blob(content: bytes) -> str:
    """Return Git's id of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def test_git_merges_what_generate_writes(tmp_path: Path) -> None:
    """Every other pair merges, to the very bytes."""
    (tmp_path / "repository").mkdir()
    merges = Merges(tmp_path / "repository", PULL_REQUESTS)
    conflicts, stale = set(), set()
    for pair in combinations(PULL_REQUESTS, 2):
        tree = merges.merged(*pair)
        if not tree:
            conflicts.add(pair)
        elif not merges.is_what_generate_writes(tree, tmp_path / " and ".join(pair)):
            stale.add(pair)

    assert conflicts == CONFLICTS.keys()
    assert stale == STALE.keys()
