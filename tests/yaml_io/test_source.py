"""A place in a profile is always one that can be shown."""

from __future__ import annotations

import pytest

from trainyard.diagnostics import Pointer
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Mark, Source

ROOT = Pointer("p.yaml")


@pytest.mark.parametrize(
    ("at", "mark"),
    [
        (ROOT / "a" / "b", Mark(2, 6, 8)),
        ((ROOT / "a" / "b").key(), Mark(2, 3, 4)),
        (ROOT / "a" / "missing" / 0, Mark(1, 1, 2)),
        ((ROOT / "a" / "missing").key(), Mark(1, 1, 2)),
        (ROOT / "c" / 0 / "missing", Mark(3, 5, 6)),
        (ROOT / "missing", Mark(1, 1, 2)),
        (Pointer("p.yaml", line=3, column=2), Mark(3, 2, 3)),
        (Pointer("p.yaml", line=2, column=6), Mark(2, 6, 8)),
    ],
)
def test_mark_falls_back_to_the_nearest_ancestor(at: Pointer, mark: Mark) -> None:
    """A default value is shown at the key of its parent."""
    source, _ = read("p.yaml", b"a:\n  b: 12\nc: [x]\n")
    assert source.mark(at) == mark


def test_mark_of_an_unread_file_is_its_beginning() -> None:
    """A file without marks still has a place."""
    assert Source("p.yaml", b"").mark(ROOT / "a") == Mark(1, 1, 2)
