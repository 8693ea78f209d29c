"""A lockfile forgets no number that the base's lockfile remembers."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from trainyard.diagnostics import Diagnostic, TreeError
from trainyard.git.objects import Commit
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE, Lock, lock_bytes
from trainyard.tree.memory import check_memory, check_memory_since

HELD = Holding("roce", "nlp", "vlan", 103, IPv4Network("10.72.48.0/20"), former=True)
GIVEN = Ids("team-nlp", 2_000_000_000, "s0:c1001,c0")
FULL = Lock("1", "release", {}, (HELD,), (GIVEN,))
BASE = Commit("0123456789" * 4, "2026-11-23")


def _write(tree: Path, lock: Lock) -> None:
    (tree / "lab").mkdir(parents=True, exist_ok=True)
    (tree / "lab" / LOCKFILE).write_bytes(lock_bytes(lock))


def _found(tree: Path) -> list[Diagnostic]:
    return list(check_memory({"lab": FULL, "gone": FULL}, DiskTree(tree), {"lab"}, BASE))


def test_numbers_that_stay_are_no_finding(tmp_path: Path) -> None:
    """Whether the ledger has them is for others to say; a longer memory is none either."""
    more = replace(HELD, segment=104, team="audio")
    _write(
        tmp_path, replace(FULL, holdings=(replace(HELD, former=False, since="2026-01-01"), more))
    )

    assert _found(tmp_path) == []


@pytest.mark.parametrize(
    ("lock", "note"),
    [
        (replace(FULL, holdings=()), "team nlp was given VLAN 103 with 10.72.48.0/20"),
        (
            replace(FULL, holdings=(replace(HELD, team="audio"),)),
            "team nlp was given VLAN 103 with 10.72.48.0/20",
        ),
        (
            replace(FULL, ids=()),
            "namespace team-nlp was given ids 2000000000/10000, level s0:c1001,c0",
        ),
    ],
    ids=["number", "number-of-another", "ids"],
)
def test_each_kind_of_number_is_found(tmp_path: Path, lock: Lock, note: str) -> None:
    _write(tmp_path, lock)
    (found,) = _found(tmp_path)

    assert (found.rule, found.at.file) == (
        "change/number-forgotten",
        "overlays/lab/trainyard.lock",
    )
    assert [each.message for each in found.notes] == [note]
    assert "git restore --source 0123456789 overlays/lab/trainyard.lock" in found.hint


@pytest.mark.parametrize("content", [None, "{"], ids=["missing", "broken"])
def test_lockfile_that_cannot_be_read_remembers_nothing(
    tmp_path: Path, content: str | None
) -> None:
    if content:
        _write(tmp_path, FULL)
        (tmp_path / "lab" / LOCKFILE).write_text(content)
    (found,) = _found(tmp_path)

    assert "missing or can't be read, and with it 2 numbers" in found.message


def test_commit_is_asked_by_its_name(tmp_path: Path) -> None:
    """`verify --changed-since` compares the lockfiles on disk with those of the common commit."""
    tree = tmp_path / "overlays"

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True)

    _write(tree, FULL)
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message=base")
    assert list(check_memory_since(DiskTree(tree), "main", {"lab"})) == []
    _write(tree, replace(FULL, holdings=()))

    (found,) = check_memory_since(DiskTree(tree), "main", {"lab"})
    assert found.rule == "change/number-forgotten"
    assert list(check_memory_since(DiskTree(tree), "", {"lab"})) == []
    with pytest.raises(TreeError, match="names no commit"):
        list(check_memory_since(DiskTree(tree), "nothing", {"lab"}))

    git("checkout", "--quiet", "-b", "topic")
    git("stash", "--quiet")
    git("checkout", "--quiet", "main")
    more = replace(FULL, holdings=(HELD, replace(HELD, segment=104, team="audio")))
    _write(tree, more)
    git("commit", "--quiet", "--all", "--message=a team more")
    git("checkout", "--quiet", "topic")
    assert list(check_memory_since(DiskTree(tree), "main", {"lab"})) == []
