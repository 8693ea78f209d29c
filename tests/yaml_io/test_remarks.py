from __future__ import annotations

import pytest

from trainyard.yaml_io.remarks import Remark, nodes, remarks


def _beside(text: str) -> list[tuple[str, str]]:
    """Return each comment at the end of a line with the text of the node before it."""
    found = nodes(text)
    every = remarks(text, found)
    return [
        (text[found[number].start : found[number].end], remark.text)
        for number, many in every.beside.items()
        for remark in many
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1 # x\n", [("1", "# x")]),
        ("a: # x\n  b: 1\n", [("a", "# x")]),
        ('a: "# no" # x\n', [('"# no"', "# x")]),
        ("a: {b: '#', c: [d]} # x # y\n", [("d", "# x # y")]),
        ("a: b#c\n", []),
        ("a: 1\t#x \n", [("1", "#x")]),
    ],
)
def test_comment_at_the_end_of_a_line_belongs_to_the_last_value(
    text: str, expected: list[tuple[str, str]]
) -> None:
    """A `#` inside of a value begins no comment."""
    assert _beside(text) == expected


def test_text_block_holds_no_comment_but_its_first_line() -> None:
    """The lines of a text block that begin with `#` are text; the first line is YAML."""
    text = "a: | # head\n  # text\n\n  more\n\n# below\nb: 1\n"
    every = remarks(text, nodes(text))
    assert every.comments == ["# head", "# below"]
    assert every.above == {3: [Remark(4, "", None), Remark(5, "# below", 3)]}


def test_text_block_that_keeps_its_empty_lines_has_them() -> None:
    """With `+` the empty lines at the end are part of the value."""
    text = "a: |+\n  x\n\nb: 1\n"
    assert remarks(text, nodes(text)).above == {}


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("a:\n  b: 1\n# x\nc: 2\n", "c"),
        ("a:\n  b: 1\n  # x\nc: 2\n", "b"),
        ("a:\n  b: 1\n # x\nc: 2\n", "c"),
        ("a:\n    # x\n  b: 1\n", "b"),
        ("a:\n  b: 1\n  # x\n", "b"),
        ("a:\n  - b\n  # x\n  - c\n", "c"),
        ("a: {\n  b: 1,\n     # x\n  c: 2}\n", "c"),
    ],
)
def test_comment_takes_the_indentation_of_the_section_it_is_in(text: str, level: str) -> None:
    """It is the next value's, unless the comment is further inside than the next value."""
    found = nodes(text)
    (remark,) = [
        each
        for many in remarks(text, found).above.values()
        for each in many
        if each.text and each.level is not None
    ]
    assert remark.level is not None
    node = found[remark.level]
    assert text[node.start :].startswith(level)


def test_comment_at_the_margin_below_everything_has_no_level() -> None:
    """Nothing follows it, and nothing is as far to the left."""
    text = "a:\n  b: 1\n# x\n"
    assert remarks(text, nodes(text)).above[5][0] == Remark(2, "# x", None)
