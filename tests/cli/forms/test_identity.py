from __future__ import annotations

import pytest
from hypothesis import given

from tests.hostile.texts import texts
from trainyard.cli.forms.identity import line_hashes


@pytest.mark.parametrize(
    ("content", "hashes"),
    [
        (b"a: 1\n", ("4037987d9a8320d9:1", "c129715d7a2bc9a3:1")),
        (b"", ("c129715d7a2bc9a3:1",)),
        (
            b"contact: nlp@example.com\r\n\tgroups: {a: [b]}\r\n",
            ("e49f704de600ac7b:1", "b3ac4f0360bf4884:1", "c129715d7a2bc9a3:1"),
        ),
        (
            b"\xef\xbb\xbfa: \xf0\x9f\x98\x80 \xc3\xa9\na: \xf0\x9f\x98\x80 \xc3\xa9\n",
            ("7aa3a1a4f1c098b8:1", "856e795cd2399dd2:1", "c129715d7a2bc9a3:1"),
        ),
        (b"x" * 101 + b"\ny\n", ("52b56201ffb58620:1", "c33be7e0cf7c3ca:1", "c129715d7a2bc9a3:1")),
    ],
)
def test_hash_of_a_line_is_the_one_of_github(content: bytes, hashes: tuple[str, ...]) -> None:
    """These values were computed by github/codeql-action:src/fingerprints.ts itself."""
    assert line_hashes(content) == hashes


@given(texts)
def test_there_is_a_different_hash_for_each_line(text: str) -> None:
    """Equal lines are numbered."""
    content = text.encode("utf-8", "surrogatepass").replace(b"\r", b"")
    hashes = line_hashes(content)

    assert len(set(hashes)) == len(hashes) == content.count(b"\n") + 1
