"""A template's tree keeps what a mapping would lose."""

from __future__ import annotations

import pytest

from trainyard.yaml_io.template_tree import Node, Pair, read_template_tree


def test_tree_keeps_order_duplicates_and_lines() -> None:
    """Each entry has the line of its key, each node that of its beginning; comments and quotes are
    gone."""
    root = read_template_tree("# c\nb: 1\na:\n  - x  # c\n  - 'no'\n  -\nb: {c: true}\n")
    items = (Node("scalar", 4, "x"), Node("scalar", 5, "no"), Node("scalar", 6, None))
    inner = Node("mapping", 7, entries=(Pair("c", 7, Node("scalar", 7, value=True)),))
    assert root == Node(
        "mapping",
        2,
        entries=(
            Pair("b", 2, Node("scalar", 2, 1)),
            Pair("a", 3, Node("sequence", 4, items=items)),
            Pair("b", 7, inner),
        ),
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *[
            ("a: 1\nb: [", 3),
            ("", 1),
            ("a: 1\n---\nb: 2\n", 3),
            ("a:\n  &x b\n", 2),
            ("a: *x\n", 1),
            ("\na: !!str b", 2),
        ],
        *[("a:\n\n- no\n", 3), ("a: 1.5\n", 1), ("a: 1\n? {b: c}\n: d\n", 2), ("\x00", 1)],
    ],
)
def test_error_begins_with_its_line(text: str, line: int) -> None:
    """A template that is not plain YAML is a ValueError with its line."""
    with pytest.raises(ValueError, match=f"^line {line}: "):
        read_template_tree(text)
