"""Manifests are read as Kubernetes reads them."""

from __future__ import annotations

import pytest

from trainyard.diagnostics import Pointer
from trainyard.yaml_io.aliases import MAX_EVENTS
from trainyard.yaml_io.events import StreamError
from trainyard.yaml_io.manifests import parse_manifests, read_handwritten
from trainyard.yaml_io.source import Plain, Source


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[
            ("yes", True),
            ("Off", False),
            ("y", True),
            ("True", True),
            ("~", None),
            ("", None),
            ("null", None),
        ],
        *[
            ("0644", 420),
            ("0o17", 15),
            ("0x1F", 31),
            ("0b11", 3),
            ("1_000", 1000),
            ("-7", -7),
            ("+7", 7),
            ("-012", -10),
        ],
        *[("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("08", 8.0), ("1e999", "1e999")],
        *[
            ("<<", "<<"),
            ("=", "="),
            ("22:22", "22:22"),
            ("2026-11-21", "2026-11-21"),
            ("64Gi", "64Gi"),
            ("1.2.3", "1.2.3"),
        ],
        *[('"1"', "1"), ("'yes'", "yes"), ("[a, {b: 1}]", ["a", {"b": 1}]), ("|-\n  1", "1")],
    ],
)
def test_parse_manifests_resolves_scalars_as_kubernetes_does(text: str, value: Plain) -> None:
    """A foreign manifest has the values that kubectl would send."""
    ((_, back),) = parse_manifests(f"key: {text}\n")[0].items()
    assert back == value
    assert type(back) is type(value)


def test_parse_manifests_reads_every_document_and_drops_empty_ones() -> None:
    """The stream of kustomize build is a list of objects, in order."""
    assert parse_manifests("---\n# c\n---\na: 1\n---\n<<: x\n---\n") == [{"a": 1}, {"<<": "x"}]
    assert parse_manifests("") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *[
            ("a: 1\nb: [", 3),
            ("a: 1\na: 2\n", 2),
            ("a: &x 1\nb: *x\n", 2),
            ("a: 1\nb: !!str 2\n", 2),
            ("? [a]\n: b\n", 1),
        ],
        *[("a: \x00", 1), ("a: !%C0%80 b", 1)],
    ],
)
def test_parse_manifests_says_the_line_of_what_it_refuses(text: str, line: int) -> None:
    """A stream that is not YAML, or has an alias, a tag or a duplicate, is a ValueError with its
    line."""
    with pytest.raises(ValueError, match=f"^line {line}: "):
        parse_manifests(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x 1\nb: *x\n", {"a": 1, "b": 1}),
        ("a: &x {k: [1, 2]}\nb: *x\n", {"a": {"k": [1, 2]}, "b": {"k": [1, 2]}}),
        ("a: &x [&y {k: v}, *y]\nb: *x\n", {"a": [{"k": "v"}] * 2, "b": [{"k": "v"}] * 2}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        (
            "a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n",
            {"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}},
        ),
        (
            "- &x {k: 1}\n- &y {k: 2, l: 2}\n- <<: [*x, *y]\n",
            [{"k": 1}, {"k": 2, "l": 2}, {"k": 1, "l": 2}],
        ),
    ],
)
def test_aliases_in_a_users_file_are_followed(text: str, value: Plain) -> None:
    assert handwritten(text).value == [value]


def handwritten(text: str) -> Source:
    return read_handwritten("job.yaml", text.encode(), text)


def test_what_an_alias_adds_has_the_place_of_what_it_names() -> None:
    text = "a: &x\n  b: 1\nc: *x\nd:\n  <<: *x\n"
    source = handwritten(text)
    places = [(0, "c", "b"), (0, "d", "b"), (0, "d", "e")]

    assert source.value == [{"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1}}]
    marks = [source.mark(Pointer("job.yaml", path)) for path in places]
    assert [(mark.line, mark.column) for mark in marks] == [(2, 6), (4, 1), (4, 1)]


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{inner}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: *x\n", "alias \\*x names no value before it"),
        ("a: &x [*x]\n", "alias \\*x names no value before it"),
        ("a: &x 1\n---\nb: *x\n", "undefined alias|alias \\*x"),
        ("a: !x 1\n", "a tag"),
        (bomb(20), f"aliases add more than {MAX_EVENTS} values"),
    ],
)
def test_an_alias_of_nothing_and_too_many_are_refused(text: str, reason: str) -> None:
    with pytest.raises(StreamError, match=reason):
        handwritten(text)


def test_nested_anchors_are_no_deeper_than_other_values() -> None:
    with pytest.raises(StreamError, match="more than 100 levels"):
        handwritten("".join(f"&a{number} [" for number in range(5000)))


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\u2029"])
def test_a_string_with_another_end_of_line_has_a_place(end: str) -> None:
    """Found by `make fuzz`: libyaml counts these too, and a job's text may hold them."""
    text = f'{{"a": "x{end}y", "b": "x{end}y"}}'
    source = read_handwritten("job.json", text.encode(), text)
    assert [source.marks[0, key].line for key in "ab"] == [1, 2]
