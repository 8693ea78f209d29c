"""Results go to the file that the user names, and replace nothing that a commit depends on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended
from trainyard.cli.destination import need_free, save
from trainyard.diagnostics import TreeError

Call = Callable[..., Ended]
OWNED = (
    "profiles/teams/nlp.yaml",
    "profiles/new.json",
    "profiles/../profiles/trainyard.yaml",
    "overlays/lab/README.md",
    "overlays/lab/teams/new.yaml",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "sub/.git",
    "bare/config",
    "tree/x",
)


@pytest.fixture
def place(repository: Path) -> Path:
    """Return a repository with a tree, a bare clone, and a folder as Git has for a work tree."""
    subprocess.run(["git", "init", "--quiet"], check=True, cwd=repository)
    subprocess.run(["git", "init", "--quiet", "--bare", "bare"], check=True, cwd=repository)
    for folder in ("overlays/lab/teams", "sub", "tree", "out"):
        (repository / folder).mkdir(parents=True)
    (repository / "overlays/lab/README.md").write_text("tree\n", "utf-8")
    for file in ("HEAD", "commondir"):
        (repository / "tree" / file).write_text("x\n", "utf-8")
    return repository


def contents(root: Path) -> dict[str, bytes]:
    """Return the content of each file."""
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("file", OWNED)
def test_what_a_commit_depends_on_is_not_replaced(place: Path, trainyard: Call, file: str) -> None:
    """By a relative and an absolute path, of a file that is there or not."""
    _need_refusal(place, trainyard, ("rules", "--format", "json:{}"), file)


@pytest.mark.parametrize(
    "command",
    [
        ("validate", "--format", "json:{}"),
        ("capacity", "--format", "csv:{}"),
        ("generate", "--check", "--format", "sarif:{}"),
        ("report", "--out", "{}"),
    ],
    ids=lambda each: each[0],
)
def test_each_command_keeps_a_profile(
    place: Path, trainyard: Call, command: tuple[str, ...]
) -> None:
    _need_refusal(place, trainyard, command, OWNED[0])


def _need_refusal(place: Path, trainyard: Call, command: tuple[str, ...], file: str) -> None:
    before = contents(place)
    for name in (file, str(place / file)):
        ended = trainyard(*(each.format(name) for each in command))
        assert (ended.code, ended.out) == (2, "")
        assert "name another file for what is printed" in ended.err
    assert contents(place) == before


@pytest.mark.parametrize(
    "link",
    [
        ("out.json", "profiles/teams/nlp.yaml"),
        ("out.json", "elsewhere.txt"),
        ("out.json", "nowhere.txt"),
        ("folder", "out"),
        ("folder", ".git"),
        ("folder", "profiles/teams"),
    ],
)
def test_no_link_is_followed(place: Path, trainyard: Call, link: tuple[str, str]) -> None:
    """A commit can have links, and a pipeline writes beside its files."""
    (place / "elsewhere.txt").write_text("mine\n", "utf-8")
    name, target = link
    (place / name).symlink_to(target)
    before = contents(place)
    file = name if name == "out.json" else f"{name}/nlp.yaml"
    ended = trainyard("rules", "--format", f"json:{file}")

    assert (ended.code, ended.out) in {(5, ""), (2, "")}
    assert contents(place) == before


def test_other_folders_of_the_user_are_respected(place: Path, trainyard: Call) -> None:
    """`--profiles` and `--output` say where both are."""
    (place / "profiles").rename(place / "mine")
    (place / "overlays").rename(place / "made")
    for file in ("mine/teams/nlp.yaml", "made/lab/README.md"):
        options = ("--profiles", "mine", "--output", "made")
        assert trainyard("generate", "--check", *options, "--format", f"json:{file}").code == 2
    assert (place / "made/lab/README.md").read_text("utf-8") == "tree\n"


@pytest.mark.parametrize(
    "file", ["report.json", "out/report.json", "overlays/report.html", "../x.json"]
)
def test_any_other_file_is_written_and_replaced(place: Path, trainyard: Call, file: str) -> None:
    """The top of the tree may have a page; no unit reads it."""
    for _ in range(2):
        assert trainyard("rules", "--format", f"json:{file}") == Ended(0, "", "")
    assert (place / file).read_text("utf-8").startswith("{")
    (place / file).unlink()


def test_devices_and_absolute_paths_behind_links_are_written(place: Path) -> None:
    """`/dev/null` drops a form, and a temporary folder may be a link of the system."""
    (place / "link").symlink_to("out")
    save(Path(os.devnull), b"x")
    save(place / "link" / "x", b"x")

    assert (place / "out" / "x").read_bytes() == b"x"
    with pytest.raises(TreeError, match="can't be written: it is not a regular file"):
        save(Path("link/x"), b"y")
    with pytest.raises(TreeError, match="can't be written: Is a directory"):
        save(place / "out", b"y")
    need_free(Path("HEAD"))
