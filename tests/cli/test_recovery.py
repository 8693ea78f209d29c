"""Commands in a repository where a run was killed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit

Call = Callable[..., Ended]


@pytest.fixture
def killed(tree: Path) -> Path:
    """The repository after a run was killed between the two renames of a file system that can't
    exchange folders."""
    (tree / "overlays").rename(tree / ".overlays.previous")
    return tree


def _state(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _drop_team(repository: Path) -> None:
    (repository / "profiles" / "teams" / "science.yaml").unlink()
    edit(repository / "profiles" / "allocations.yaml", "    science: ", "    # science: ")


def test_tree_is_recovered_before_it_is_judged(killed: Path, trainyard: Call) -> None:
    """A profile that is gone is found missing in the tree of before, and nothing of its team is
    deleted."""
    before = _state(killed / ".overlays.previous")
    _drop_team(killed)
    ended = trainyard("generate")

    assert ended.code == 1
    assert "error[delivery/profile-vanished]" in ended.out
    assert ended.err == "recovered overlays: an earlier run was ended while it replaced the tree\n"
    assert _state(killed / "overlays") == before
    assert not (killed / ".overlays.previous").exists()


@pytest.mark.parametrize("args", [("generate", "--check"), ("generate", "--dry-run"), ("verify",)])
def test_whoever_only_looks_says_how_to_recover(
    args: tuple[str, ...], killed: Path, trainyard: Call
) -> None:
    """No tree is not an empty tree, and a command that writes nothing writes nothing now either."""
    ended = trainyard(*args)

    assert (ended.code, ended.out) == (5, "")
    assert ended.err == (
        "error: overlays is missing: a run was ended while it replaced the tree, which is now "
        ".overlays.previous; run `trainyard generate` to recover it\n"
    )
    assert (killed / ".overlays.previous").is_dir()


def test_staging_folder_of_a_killed_run_is_named(tree: Path, trainyard: Call) -> None:
    """It would be committed by the next `git add`; a machine's output is not disturbed by its
    name."""
    (tree / ".overlays.staging-x" / "prod-east").mkdir(parents=True)
    ended = trainyard("generate", "--format", "json")

    assert (ended.code, ended.out[0]) == (0, "{")
    assert ended.err == "removed .overlays.staging-x, which an earlier run had left behind\n"
    assert not (tree / ".overlays.staging-x").exists()


def test_staging_folder_of_a_killed_edit_is_named(
    repository: Path, trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next `add` removes the staging folder of a killed one."""
    edit(
        repository / "profiles" / "clusters" / "lab.yaml",
        "hardware: cpu-epyc, nodes: 7",
        "hardware: cpu-epyc, nodes: 11",
    )
    with monkeypatch.context() as killing:
        killing.setattr(shutil, "rmtree", lambda *_, **__: None)
        assert trainyard("add", "team", "first", "--cluster", "lab", "--pool", "cpu").code == 0
    (left,) = (path for path in (repository / "profiles").iterdir() if path.name.startswith("."))
    ended = trainyard("add", "team", "second", "--cluster", "lab", "--pool", "cpu")

    assert ended.code == 0
    assert (
        f"removed {left.relative_to(repository)}, which an earlier run had left behind\n"
        in ended.err
    )
    assert not left.exists()


def test_init_removes_what_a_killed_one_left(here: Path, trainyard: Call) -> None:
    (here / ".trainyard-staging-x").mkdir()
    ended = trainyard("init")

    assert ended.code == 0
    assert "removed .trainyard-staging-x, which an earlier run had left behind\n" in ended.err


@pytest.mark.usefixtures("repository")
def test_unreadable_profile_is_not_called_an_unwritable_tree(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "profiles")

    monkeypatch.setattr("trainyard.workflows.generate.check", fail)

    assert trainyard("generate") == Ended(5, "", "error: profiles: Permission denied\n")
