"""Edits of one value or key of a profile: nothing else of the file changes."""

from __future__ import annotations

import pytest

from trainyard.diagnostics import TreeError
from trainyard.scaffold.edit import Path, with_item, with_value, without
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Source


def source(text: str) -> Source:
    found, problems = read("profiles/x.yaml", text.encode())
    assert problems == ()
    return found


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("release: a # why\nb: 1\n", ("release",), "c-1.2", "release: c-1.2 # why\nb: 1\n"),
        ('{release: "a", b: 1}\n', ("release",), "c", "{release: c, b: 1}\n"),
        ("# head\r\nversion: 9\r\nb: 1\r\n", ("version",), 10, "# head\r\nversion: 10\r\nb: 1\r\n"),
        ("a: {b: [ä, x: 1]}\n", ("a", "b", 1, "x"), 22, "a: {b: [ä, x: 22]}\n"),
        ("\ufeffa: 1", ("a",), 2, "a: 2"),
        ("a: '2026-01-01' # x\n", ("a",), "2026-02-03", 'a: "2026-02-03" # x\n'),
        ("a: 1\n", ("b",), "2026-02-03", 'a: 1\nb: "2026-02-03"\n'),
        ("a: 1 # x", ("b",), 2, "a: 1 # x\nb: 2\n"),
        ("a: 1\n# end\n\n", ("b",), 2, "a: 1\n# end\nb: 2\n"),
    ],
)
def test_one_value_changes(before: str, path: Path, value: str | int, after: str) -> None:
    assert with_value(source(before), path, value).content.decode() == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a: [x, w] # why\n", ("a", 0), "a: [x, z, w] # why\n"),
        ("a: [x]\n", ("a", 0), "a: [x, z]\n"),
        ("a:\n  - x # why\n  - w\n", ("a", 1), "a:\n  - x # why\n  - w\n  - z\n"),
        ("a: [\n  x,\n  w,\n]\n", ("a", 0), "a: [\n  x, z,\n  w,\n]\n"),
    ],
)
def test_one_item_is_added(before: str, path: Path, after: str) -> None:
    assert with_item(source(before), path, "z").content.decode() == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a: 1\nb: {c: 1} # x\nd: 2\n", ("b",), "a: 1\nd: 2\n"),
        ("a: 1\nb:\n  c: 1\n", ("b",), "a: 1\n"),
        ("a:\n  b:\n    c: 1\n    # b\n  # of d\n  d: 1\n", ("a", "b"), "a:\n  # of d\n  d: 1\n"),
        ("a:\n  b:\n    c: 1\n\n# of d\nd: 1\n", ("a", "b"), "\n# of d\nd: 1\n"),
        ("a: 1\nb:\n- 1\n- 2\nd: 1\n", ("b",), None),
        ("a: {b: 1, c: 2}\n", ("a", "b"), None),
    ],
)
def test_one_key_goes(before: str, path: Path, after: str | None) -> None:
    """A mapping that would be empty goes too; what can't be edited so is left to its author."""
    if after is None:
        with pytest.raises(TreeError, match="edit it by hand"):
            without(source(before), path)
    else:
        assert without(source(before), path).content.decode() == after


def test_value_of_several_lines_is_left_alone() -> None:
    with pytest.raises(TreeError, match="edit it by hand"):
        with_value(source("a: x\n  y\nb: 1\n"), ("a",), "z")
