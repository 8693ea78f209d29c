from __future__ import annotations

from pathlib import Path

import pytest

from tests.scaffold.folders import content
from trainyard.diagnostics import TreeError, has_errors
from trainyard.scaffold.init import init
from trainyard.workflows.generate import generate


def test_new_repository_generates_at_once(tmp_path: Path) -> None:
    """Profiles as written give a tree and no error."""
    written = init(tmp_path / "new" / "repository")
    assert all(path.is_file() for path in written)
    generation = generate(tmp_path / "new" / "repository" / "profiles", "../profiles/components")
    assert not has_errors(generation.diagnostics)
    assert "lab/README.md" in generation.files


def test_every_line_is_short_and_every_file_explained(tmp_path: Path) -> None:
    """Each file begins with a comment and fits a screen."""
    for path in init(tmp_path):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# ")
        assert len(lines) <= 30
        assert max(map(len, lines)) <= 120


def test_git_files_that_are_there_stay(tmp_path: Path) -> None:
    """A repository that has a .gitignore keeps it."""
    (tmp_path / ".gitignore").write_text("mine\n")
    written = init(tmp_path)
    assert tmp_path / ".gitignore" not in written
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
    assert (tmp_path / ".gitattributes") in written


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_profiles_that_are_there_are_never_touched(tmp_path: Path, kind: str) -> None:
    """Whatever is called profiles stops the command before anything is written."""
    profiles = tmp_path / "profiles"
    if kind == "folder":
        profiles.mkdir()
    elif kind == "file":
        profiles.touch()
    else:
        profiles.symlink_to("nowhere")
    before = content(tmp_path)
    with pytest.raises(TreeError, match="profiles is there already"):
        init(tmp_path)
    assert content(tmp_path) == before
