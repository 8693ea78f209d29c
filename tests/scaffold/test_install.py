from __future__ import annotations

from pathlib import Path

import pytest

from tests.scaffold.folders import content
from trainyard.diagnostics import TreeError
from trainyard.scaffold.install import put


def test_files_appear_and_the_last_may_replace(tmp_path: Path) -> None:
    """New files are made, the last part replaces an existing one, and nothing else remains."""
    (tmp_path / "b").write_text("old")
    put(tmp_path, {"x/a": b"1", "b": b"2"}, ["x/a"], "b")
    assert content(tmp_path) == {"x": None, "x/a": b"1", "b": b"2"}


def test_new_file_never_replaces(tmp_path: Path) -> None:
    """An existing file, even a broken link, stops the run, and written files are removed."""
    (tmp_path / "a").symlink_to("nowhere")
    with pytest.raises(TreeError, match="a is there already; it is untouched"):
        put(tmp_path, {"y/z": b"1", "a": b"1", "b": b"2"}, ["y/z", "a"], "b")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_failure_of_the_last_takes_the_others_back(tmp_path: Path) -> None:
    """When the last part can't be put in its place, the first is gone again with the folder made
    for it."""
    (tmp_path / "b" / "c").mkdir(parents=True)
    before = content(tmp_path)
    with pytest.raises(TreeError, match="it is untouched"):
        put(tmp_path, {"x/a": b"1", "b": b"2"}, ["x/a"], "b")
    assert content(tmp_path) == before


def test_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    """A file where the folder should be is an I/O error, not a bug."""
    (tmp_path / "f").touch()
    with pytest.raises(TreeError, match="f can't be written: File exists"):
        put(tmp_path / "f", {"a": b""}, ["a"])
