"""The reader takes one plain mapping and names everything else, with its place."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trainyard import yaml_io
from trainyard.diagnostics import Pointer
from trainyard.rulebook import rules_found_by
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.reader import MAX_DEPTH, MAX_EVENTS, MAX_SCALAR, read
from trainyard.yaml_io.source import Mark, Plain

DEEP = b"a: " + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH

CASES = [
    (b"", "1:1 empty-file"),
    (b"# only a comment\n", "1:1 empty-file"),
    (b"---\n", "1:1 empty-file"),
    (b"- a\n", "1:1 not-a-mapping"),
    (b"\n  text\n", "2:3 not-a-mapping"),
    (b"a: 1\na: 2\n", "2:1 duplicate-key"),
    (b"a: 1\n'a': 2\n", "2:1 duplicate-key"),
    (b"a: 1\n---\nb: 2\n", "2:1 second-document"),
    (b"a: &x b\n", "1:4 anchor-or-alias"),
    (b"&x a: b\n", "1:1 anchor-or-alias"),
    (b"a: *x\n", "1:4 anchor-or-alias"),
    (b"<<: {a: 1}\n", "1:1 anchor-or-alias"),
    (b"a: !!python/object/apply:os.system [ls]\n", "1:4 tag"),
    (b"a: ! b\n", "1:4 tag"),
    (b"%YAML 1.1\n---\na: b\n", "1:1 directive"),
    (b"%TAG ! tag:x:\n---\na: b\n", "1:1 directive"),
    (b"a:\n\tb: 1\n", "2:1 not-yaml"),
    (b"a: b: c\n", "1:5 not-yaml"),
    (b"a: {b", "1:6 not-yaml"),
    (b"a: !%C0%80 b\n", "1:1 not-yaml"),
    (b"a: b\n  \xff\n", "2:3 not-utf8"),
    ("a: é\xad\n".encode(), "1:5 hidden-character"),
    ("a: 1 # c\u2028b: 2\n".encode(), "1:9 hidden-character"),
    ("a: 1\n# c\x85b: 2\n".encode(), "2:4 hidden-character"),
    (b"a: 1\rb: 2\n", "1:5 hidden-character"),
    (b'a: "\\u202e"\n', "1:4 hidden-character"),
    (b'"a\\u200b": b\n', "1:1 hidden-character"),
    ("a: x\ufeff\n".encode(), "1:5 hidden-character"),
    (b"a: 1\npassword: a23456\n", "2:11 delivery/secret-in-git"),
    (b"a: 1\n<<<<<<< HEAD\nb: 1\n", "2:1 conflict-marker"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "1:1 conflict-marker"),
    (b"1: a\n", "1:1 odd-key"),
    (b"true: a\n", "1:1 odd-key"),
    (b"null: a\n", "1:1 odd-key"),
    (b"on: a\n", "1:1 odd-key"),
    (b"? [a]\n: b\n", "1:3 odd-key"),
    (b"a key: b\n", "1:1 odd-key"),
    (b'"": b\n', "1:1 odd-key"),
    (b'"a\\nb": b\n', "1:1 odd-key"),
    (b"a: b\nc:\n  - " + b"x" * (MAX_SCALAR + 1), "3:5 too-large"),
    (b"#" * (MAX_BYTES + 1), "1:1 too-large"),
    (DEEP, f"1:{3 + MAX_DEPTH} too-large"),
    (b"a:\n" + b"- 1\n" * MAX_EVENTS, f"{MAX_EVENTS - 3}:3 too-large"),
]

AMBIGUOUS = [
    *(
        "yes",
        "No",
        "on",
        "OFF",
        "y",
        "N",
        "True",
        "FALSE",
        "~",
        "Null",
        "=",
        "<<",
        ".inf",
        "-.INF",
        ".nan",
    ),
    *(
        "012",
        "08",
        "0x1F",
        "0o17",
        "0b11",
        "1_000",
        "+1",
        "-0",
        "1e3",
        "1234e56",
        "1.5",
        "1.",
        ".5",
        "1.10",
        "0_x1",
        "-_",
        "._",
        "-_",
        "._",
    ),
    *(
        "22:22",
        "0000:18:00.0",
        "190:20:30",
        "2026-11-21",
        "2026-1-2 10:00:00",
        "2026-11-21T10:00:00Z",
        "9" * 13,
    ),
]


def found(content: bytes) -> list[str]:
    """Return what the reader finds, as ``line:column rule``."""
    return [
        f"{it.at.line}:{it.at.column} {it.rule.removeprefix('shape/')}"
        for it in read("p.yaml", content)[1]
    ]


@pytest.mark.parametrize(("content", "expected"), CASES)
def test_read_names_each_mistake_at_its_place(content: bytes, expected: str) -> None:
    """A file with one mistake has exactly that finding, at the line and column of the mistake."""
    assert found(content) == [expected]


def test_cases_cover_every_rule_of_the_reader() -> None:
    """No rule is left without a case, and ids are unique."""
    elsewhere = {"ambiguous-scalar", "choice-open"}
    named = {expected.split()[1] for _, expected in CASES} | elsewhere
    assert named == {rule.id.removeprefix("shape/") for rule in rules_found_by(yaml_io)}


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_read_refuses_a_scalar_on_which_readers_disagree(text: str) -> None:
    """The text stays the best guess, and the hint shows it in quotes."""
    source, diagnostics = read("p.yaml", f"a:\n  - {text}\n".encode())
    assert [(it.rule, it.at.line, it.at.column) for it in diagnostics] == [
        ("shape/ambiguous-scalar", 2, 5)
    ]
    assert f'"{text}"' in diagnostics[0].hint
    assert source.value == {"a": [text]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[
            (it, it)
            for it in (
                "64Gi",
                "500m",
                "10.0.0.0/16",
                "1.2.3",
                "v1.10",
                "0000:9a:00.0",
                "équipe 😀",
                "5E",
                "a=b",
                ".",
                "./x",
                "+",
                "_",
                "1_x",
            )
        ],
        *[
            ("0", 0),
            ("-7", -7),
            ("9" * 12, 999_999_999_999),
            ("true", True),
            ("false", False),
            ("null", None),
        ],
        *[
            ('"no"', "no"),
            ("'012'", "012"),
            ("", None),
            ("|\n  a\n  b", "a\nb\n"),
            ("x\n\n  y", "x\ny"),
        ],
    ],
)
def test_read_takes_a_scalar_on_which_readers_agree(text: str, value: Plain) -> None:
    """The value has the one type that every reader gives it, and nothing is found."""
    source, diagnostics = read("p.yaml", f"a: {text}\n".encode())
    assert diagnostics == ()
    assert source.value == {"a": value}
    assert type(source.value["a"]) is type(value)


def test_read_goes_on_after_local_mistakes_until_the_syntax_ends() -> None:
    """One run shows every finding of a file, in its order, up to a syntax error."""
    content = b"a: no\na: 012\n1: x\nb: &t {c: 1, c: 1e3}\nd: [*t, !!str e]\n]\n"
    assert found(content) == [
        "1:4 ambiguous-scalar",
        "2:1 duplicate-key",
        "2:4 ambiguous-scalar",
        "3:1 odd-key",
        "4:4 anchor-or-alias",
        "4:14 duplicate-key",
        "4:17 ambiguous-scalar",
        "5:9 tag",
        "6:1 not-yaml",
    ]


def test_read_shows_all_anchors_and_aliases_as_one() -> None:
    """An alias bomb has one cause: one finding at its first place, with the count and up to ten
    places."""
    content = b"a: &a [x]\n" + b"".join(b"b%d: *a\n" % number for number in range(12))
    source, (found,) = read("p.yaml", content)

    assert found.message == "13 anchors, aliases and merge keys; the first is anchor `&a`"
    assert (found.at.line, found.at.column) == (1, 4)
    assert [(note.message, note.at.line) for note in found.notes if note.at] == [
        ("alias `*a`", line) for line in range(2, 11)
    ]
    assert source.value is None


def test_read_keeps_a_value_that_only_has_an_anchor() -> None:
    """An anchor's value is written out and can be checked; an alias has no value."""
    assert read("p.yaml", b"a: &x b\n")[0].value == {"a": "b"}
    assert read("p.yaml", b"a: *x\n")[0].value is None


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ("n\u043edes", "U+043E CYRILLIC SMALL LETTER O"),
        ("\uff4eodes", "U+FF4E FULLWIDTH LATIN SMALL LETTER N"),
    ],
)
def test_read_names_the_character_of_a_key_that_is_not_ascii(key: str, named: str) -> None:
    """The code point shows the difference that the screen does not."""
    (found,) = read("p.yaml", f"{key}: 1\n".encode())[1]

    assert found.rule == "shape/odd-key"
    assert found.message.endswith(f"is not plain text; it holds {named}")


def test_read_shows_the_first_place_of_a_duplicate_key() -> None:
    """The note of a duplicate points to where the key stood first; the last value is the best
    guess."""
    source, (diagnostic,) = read("p.yaml", b"a:\n  b: 1\n  c: 2\n  b: 3\n")
    assert diagnostic.notes[0].at == Pointer("p.yaml", line=2, column=3)
    assert source.value == {"a": {"b": 3, "c": 2}}


def test_read_hints_at_tabs_only_where_one_indents() -> None:
    """A tab in the indentation is in the hint; elsewhere the hint is the rule's own fix."""
    assert "tabs" in read("p.yaml", b"a:\n\tb: 1\n")[1][0].hint
    assert "tabs" not in read("p.yaml", b"a: [\tb\n")[1][0].hint


def test_read_accepts_bom_and_crlf() -> None:
    """Files from Windows editors are read, with the places a user sees."""
    source, diagnostics = read("p.yaml", b'\xef\xbb\xbfa: 1\r\nb:\r\n  - "x"\r\n')
    assert diagnostics == ()
    assert source.value == {"a": 1, "b": ["x"]}
    assert source.lines[0] == "a: 1"
    assert source.mark(Pointer("p.yaml", ("b", 0))) == Mark(3, 5, 8)


def test_read_marks_keys_and_values_by_path() -> None:
    """Each value and key has its span: half-open, in code points, on its first line; an empty value
    its key's."""
    source, _ = read("p.yaml", "a: 1\nb: ['é😀', x]\nc:\nd: |\n  x\n  y\n".encode())
    assert source.marks == {
        (): Mark(1, 1, 2),
        ("a",): Mark(1, 4, 5),
        ("b",): Mark(2, 4, 5),
        ("b", 0): Mark(2, 5, 9),
        ("b", 1): Mark(2, 11, 12),
        ("c",): Mark(3, 1, 2),
        ("d",): Mark(4, 4, 5),
    }
    assert source.key_marks[("d",)] == Mark(4, 1, 2)


def test_mark_of_a_line_spans_the_scalar_that_begins_there() -> None:
    """A finding of the reader is underlined over its whole key or value."""
    source, (diagnostic,) = read("p.yaml", b"a: 2026-11-21\n")
    assert source.mark(diagnostic.at) == Mark(1, 4, 14)


def test_read_limits_the_hidden_characters_it_lists() -> None:
    """A binary file does not flood the report."""
    assert len(found(b"\x00" * 1000)) == 20


@pytest.mark.parametrize(
    "unit", ["[", "{", "- ", "? ", "a: [", "!", "'", "a: {b", "# ", "[a, ", "&a ", "\n "]
)
def test_read_is_quick_on_hostile_repetition(unit: str) -> None:
    """A reader that is not linear would take minutes for a quarter of a megabyte of nesting."""
    begin = time.process_time()
    read("p.yaml", (unit * (250_000 // len(unit))).encode())
    assert time.process_time() - begin < 10


TOKENS = (
    "a",
    "b",
    ": ",
    ":",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "&x ",
    "*x",
    "!t ",
    "!%C0",
    "%80",
    "? ",
    "|\n",
)
ODDITIES = (
    "'",
    '"',
    "\\",
    "#",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "\t",
    "\r\n",
    "\r",
    "no",
    "012",
    "<<",
    "é",
    "😀",
    "\u2028",
    "\0",
)
PIECES = st.sampled_from((*TOKENS, *ODDITIES))


@given(
    st.one_of(
        st.binary(max_size=200), st.lists(PIECES, max_size=40).map(lambda it: "".join(it).encode())
    )
)
@example(b"\xff\xfea\x00")
@example(b"\xef\xbb\xbf")
@example(b'a: "\\ud800"')
@example(b"%TAG !e! %ED%A0%80\n---\na: 1")
def test_read_never_raises_and_every_place_lies_in_the_file(content: bytes) -> None:
    """Any bytes give a value or a finding, and each place and note can be shown."""
    source, diagnostics = read("p.yaml", content)
    assert diagnostics or isinstance(source.value, dict)
    lines = source.lines
    places = [
        place for it in diagnostics for place in (it.at, *(note.at for note in it.notes if note.at))
    ]
    for place in [*map(source.mark, places), *source.marks.values(), *source.key_marks.values()]:
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1
        assert place.column < place.end_column <= max(len(lines[place.line - 1]), place.column) + 1
    for diagnostic in diagnostics:
        assert "\n" not in diagnostic.message + diagnostic.hint
        assert not any("\u2028" in text for text in (diagnostic.message, diagnostic.hint))
