"""The tree has a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended

Call = Callable[..., Ended]


def _state(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("command", ["generate", "verify", "rehearse"])
@pytest.mark.parametrize(
    ("folders", "relation"),
    [
        (("profiles", "profiles"), "is the folder of"),
        (("profiles", "."), "holds"),
        (("profiles", "profiles/tree"), "is inside"),
        (("profiles", "deep/../profiles/x/../tree"), "is inside"),
        (("profiles", "link"), "is the folder of"),
        (("profiles", "link/tree"), "is inside"),
        (("link", "profiles"), "is the folder of"),
    ],
)
def test_tree_and_profiles_are_apart(
    command: str, folders: tuple[str, str], relation: str, repository: Path, trainyard: Call
) -> None:
    """Whichever way it is named, a folder that the profiles share is refused before anything is
    read or written."""
    profiles, output = folders
    (repository / "deep").mkdir()
    (repository / "link").symlink_to("profiles")
    before = _state(repository)
    ended = trainyard(command, "--profiles", profiles, "--output", output)

    assert (ended.code, ended.out) == (2, "")
    message = (
        f"error: `--output {output}` {relation} the profiles (`{profiles}`): start the command "
        "outside of them, or name another folder for the tree"
    )
    assert ended.err.startswith(message)
    assert _state(repository) == before


def test_folder_that_begins_like_the_profiles_is_another(repository: Path, trainyard: Call) -> None:
    """Folders are compared, not their names as text."""
    assert trainyard("generate", "--output", "profiles-tree").code == 0
    assert (repository / "profiles-tree" / "lab").is_dir()


def test_foreign_folder_keeps_what_it_holds(repository: Path, trainyard: Call) -> None:
    """A tree is added beside what others keep in its folder, of which nothing is removed."""
    (repository / "src" / "app").mkdir(parents=True)
    (repository / "src" / "app" / "main.c").write_text("int main;\n")

    assert trainyard("generate", "--output", "src").code == 0
    assert (repository / "src" / "app" / "main.c").read_text() == "int main;\n"


@pytest.mark.parametrize("option", ["--profiles", "--output"])
def test_name_that_is_no_text_is_a_wrong_use(
    option: str, repository: Path, trainyard: Call
) -> None:
    """The tree names both folders, and YAML holds text only."""
    before = _state(repository)
    ended = trainyard("generate", option, "p\udcff")

    assert (ended.code, ended.out) == (2, "")
    assert f"'{option}': the name of 'p\ufffd' is not UTF-8" in ended.err
    assert _state(repository) == before
