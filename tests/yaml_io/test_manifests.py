"""Manifests are read as Kubernetes reads them."""

from __future__ import annotations

import pytest

from trainyard.yaml_io.manifests import parse_manifests
from trainyard.yaml_io.source import Plain


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
    """A stream that is no YAML, or has an alias, a tag or a duplicate, is a ValueError with its
    line."""
    with pytest.raises(ValueError, match=f"^line {line}: "):
        parse_manifests(text)
