"""Git submodules in the tree and among the profiles."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from trainyard.tree.place import check_submodules


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty repository with one commit."""
    for folder in ("profiles/teams", "overlays/lab/teams/nlp"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.yaml").touch()
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", "--all")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    _git(tmp_path, *who, "commit", "--quiet", "--message=m")
    return tmp_path


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def _add(root: Path, path: str) -> None:
    """Add a submodule as a clone has it that fetched none: as an empty folder."""
    commit = _git(root, "rev-parse", "HEAD")
    _git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    (root / path).mkdir(parents=True)


def _found(root: Path) -> list[str]:
    found = check_submodules(root / "profiles", root / "overlays")
    return [f"{each.rule} {each.at.file}" for each in found]


@pytest.mark.parametrize("path", ["overlays/lab/teams/ghost", "profiles/components/c/sub"])
def test_submodule_is_found_and_its_removal_too(root: Path, path: str) -> None:
    assert _found(root) == []
    _add(root, path)
    assert _found(root) == [f"delivery/submodule {path}"]

    (root / path / ".git").write_text("gitdir: elsewhere\n")
    assert _found(root) == [f"delivery/submodule {path}"]

    (root / path / ".git").unlink()
    _git(root, "rm", "--quiet", "--cached", path)
    assert _found(root) == []


def test_tree_that_is_a_submodule_is_named_once(root: Path) -> None:
    shutil.rmtree(root / "overlays")
    _git(root, "rm", "--quiet", "-r", "--cached", "overlays")
    _add(root, "overlays")

    assert _found(root) == ["delivery/submodule overlays"]


def test_git_is_not_asked_without_a_reason(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree without an empty folder is checked on a machine without Git, too."""
    monkeypatch.setenv("PATH", "")

    assert _found(root) == []


def test_folder_in_no_work_tree_has_none(tmp_path: Path) -> None:
    (tmp_path / "overlays").mkdir()

    assert _found(tmp_path) == []
