"""Profiles of a commit are copied as files, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git.test_commits import commit_all, git
from trainyard.change.sides import Places, Side, take_side
from trainyard.diagnostics import TreeError
from trainyard.git.repository import Repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one team."""
    root = tmp_path / "repository"
    root.joinpath("profiles", "teams").mkdir(parents=True)
    root.joinpath("profiles", "teams", "nlp.yaml").touch()
    git(root, "init", "--quiet", "--initial-branch=main")
    return root


def taken(root: Path) -> Side:
    commit_all(root)
    folder = root.parent / "copy"
    return take_side(Places(Repository(root), "profiles", "overlays"), "main", folder)


def test_link_is_refused(root: Path) -> None:
    root.joinpath("profiles", "teams", "link.yaml").symlink_to("/etc/passwd")

    with pytest.raises(TreeError, match=r"teams/link\.yaml is not a regular file in commit"):
        taken(root)


def test_submodule_is_refused(root: Path) -> None:
    inner = root / "profiles" / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    commit_all(inner)

    with pytest.raises(TreeError, match=r"profiles/inner is not a regular file in commit"):
        taken(root)


def test_hidden_link_is_left_out(root: Path) -> None:
    """Emacs makes one beside each file with edits, and people commit it."""
    root.joinpath("profiles", "teams", ".#nlp.yaml").symlink_to("admin@host.1234")

    copied = taken(root).profiles.rglob("*.yaml")

    assert [path.name for path in copied] == ["nlp.yaml"]


def test_path_that_can_not_be_written_is_named_with_its_commit(root: Path) -> None:
    root.joinpath("profiles", "teams", "a\\b.yaml").touch()

    with pytest.raises(TreeError, match=r"commit [0-9a-f]{10} has a file with the impossible path"):
        taken(root)
