from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainyard.diagnostics import TreeError
from trainyard.scaffold.roundtrip import append
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.reader import read

_ENTRY = {"partition": "0x0999", "addresses": "10.99.0.0/20"}
_LINE = 'new: {partition: "0x0999", addresses: 10.99.0.0/20}'
_NAMES = st.lists(st.sampled_from("abc"), unique=True, min_size=1)
_ABOVE = st.sampled_from(
    ["", "", "\n", "{0}# why\n", "\n{0}# why\n{0}# and more\n", "# at the margin\n", "\n\n"]
)
_BESIDE = st.sampled_from(["", " # beside", "   # further"])
_TEAM = st.sampled_from(
    [
        '{name}: {{partition: "0x0101", addresses: 10.64.0.0/20}}{beside}\n',
        "{name}: {{partition: '0x0101', addresses: 10.64.0.0/20}}{beside}\n",
        (
            '{name}:{beside}\n{inside}partition: "0x0101"{beside}\n{inside}addresses: '
            "10.64.0.0/20{beside}\n"
        ),
    ]
)


@st.composite
def _files(draw: st.DrawFn) -> str:
    """Allocations as people lay them out: comments anywhere, empty lines, entries on one line or on
    several."""
    indent = " " * draw(st.sampled_from([2, 4]))

    def above(depth: int) -> str:
        return draw(_ABOVE).format(indent * depth)

    def lines() -> Iterator[str]:
        yield "# Head.\n"
        for cluster in draw(_NAMES):
            yield f"{above(0)}{cluster}:{draw(_BESIDE)}\n"
            for fabric in draw(_NAMES):
                yield f"{above(1)}{indent}{fabric}:{draw(_BESIDE)}\n"
                for name in draw(_NAMES):
                    team = draw(_TEAM).format(name=name, beside=draw(_BESIDE), inside=indent * 3)
                    yield f"{above(2)}{indent * 2}{team}"
        yield above(draw(st.integers(0, 2)))

    return "".join(lines())


@pytest.mark.thorough
@given(_files(), st.sampled_from("abx"), st.sampled_from("abx"))
@settings(max_examples=150, deadline=None)
def test_entry_is_added_and_every_other_byte_stays(text: str, cluster: str, fabric: str) -> None:
    """Without the lines of the new entry, the file is what it was; with them, it holds the entry
    last in its place."""
    written = append(text.encode(), (cluster, fabric, "new"), _ENTRY).decode()
    value = read("x", written.encode())[0].value
    assert next(reversed(value[cluster][fabric].items())) == ("new", _ENTRY)
    before = read("x", text.encode())[0].value
    added = 1 + (cluster not in before) + (fabric not in before.get(cluster, {}))
    lines = written.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() == _LINE)
    assert lines[: at + 1 - added] + lines[at + 1 :] == text.splitlines()


@pytest.mark.parametrize("word", ["n", "no", "null", "off", "on", "true", "y", "yes"])
def test_word_that_readers_take_for_something_else_is_quoted(word: str) -> None:
    """A cluster, fabric or team called so reads back as text, without a finding."""
    source, found = read("x", append(b"{}\n", (word, word, word), _ENTRY))
    assert found == ()
    assert source.value == {word: {word: {word: _ENTRY}}}


@pytest.mark.parametrize("empty", ["{}", "c: {}", "c:\n  ib: {}"])
def test_first_entry_of_an_empty_mapping_begins_lines(empty: str) -> None:
    """The braces of an empty mapping go, and the comment above stays."""
    written = append(f"# Head.\n{empty}\n".encode(), ("c", "ib", "new"), _ENTRY).decode()
    assert written == f"# Head.\nc:\n  ib:\n    {_LINE}\n"


def test_section_below_an_empty_mapping_keeps_its_comment() -> None:
    """The comment that heads the next section is not taken for one of the mapping that was
    empty."""
    written = append(
        f"c:\n  ib: {{}}\n\n# Next.\nd:\n  ib:\n    {_LINE}\n".encode(), ("c", "ib", "new"), _ENTRY
    )
    assert written.decode() == f"c:\n  ib:\n    {_LINE}\n\n# Next.\nd:\n  ib:\n    {_LINE}\n"


def test_mapping_in_braces_stays_in_braces() -> None:
    """A user's fabric on one line gets its new entry on that line."""
    written = append(
        f"c: {{ib: {{{_LINE.replace('new', 'old')}}}}} # one\n".encode(), ("c", "ib", "new"), _ENTRY
    )
    assert re.fullmatch(r"c: \{ib: \{old: \{.*\}, new: \{.*\}\}\} # one\n", written.decode())


def test_windows_line_ends_and_byte_order_mark_go() -> None:
    """What the reader takes can be written: the result has LF and no BOM."""
    written = append(
        f"\ufeff# Head.\nc:\n  ib:\n    {_LINE}\n".replace("\n", "\r\n").encode(),
        ("d", "ib", "new"),
        _ENTRY,
    )
    assert written.decode() == f"# Head.\nc:\n  ib:\n    {_LINE}\nd:\n  ib:\n    {_LINE}\n"


def test_file_that_would_be_too_large_is_not_made() -> None:
    """An entry that no longer fits is refused: the next run could not read the file."""
    full = b"a:\n  b:\n    c: {addresses: x}\n" + b"#" * (MAX_BYTES - 40)
    with pytest.raises(
        TreeError, match="the entry can't be added: the file has more than 1,048,576 bytes"
    ):
        append(full, ("a", "b", "new"), _ENTRY)


def test_comment_inside_braces_is_not_lost() -> None:
    """A file that can't be kept as it is, is refused."""
    text = (
        'c:\n  ib:\n    old: {\n      partition: "0x0101", # why\n      addresses: '
        "10.64.0.0/20\n    }\n"
    )
    with pytest.raises(TreeError, match="a comment inside braces would be lost"):
        append(text.encode(), ("c", "ib", "new"), _ENTRY)


def test_what_the_reader_gave_stays() -> None:
    """The same text is read again afterwards, and the entry is not in it."""
    text = b"# Head.\n{}\n"
    assert read("", text)[0].value == {}
    append(text, ("c", "ib", "new"), _ENTRY)
    append(text, ("c", "ib", "other"), _ENTRY)
    assert read("", text)[0].value == {}
