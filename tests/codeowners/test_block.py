"""The block inside a file that people write too."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.codeowners.matching import owners_of
from trainyard.codeowners.block import BEGIN, END, block, overriding, replaced
from trainyard.codeowners.entries import Entry
from trainyard.diagnostics import TreeError

NEW = block([Entry("/profiles/", ("@org/a",)), Entry("/overlays/*/teams/nlp/", ("@org/nlp",))])
OLD = block([Entry("/profiles/", ("@org/old",))])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(
    lambda text: BEGIN not in text and END not in text
)
PATTERNS = [
    *(
        "*",
        "*.yaml",
        "/profiles",
        "/profiles/",
        "/profiles/teams/x.yaml",
        "/prof*",
        "/pro",
        "docs/",
    ),
    *("/docs/", "/docs/*", "**/nlp/", "/overlays/", "/overlays/prod-east/teams/nlp/x", "teams/nlp"),
    *("/profiles2/", "/overlays/*/platform/", "README.md", "/**", "/src/**/x"),
]
FILES = [
    *("profiles/teams/x.yaml", "profiles/README.md", "profiles/docs/a", "profiles/nlp/b"),
    *("overlays/prod-east/teams/nlp/x", "overlays/lab/teams/nlp/docs/y.yaml"),
]


@given(texts, texts)
def test_lines_around_the_block_stay(above: str, below: str) -> None:
    """Only the block changes, whatever stands around it, and a second run changes nothing."""
    text = f"{above}\n{OLD}{below}"
    written = replaced(text, NEW)

    assert written == f"{above}\n{NEW}{below}"
    assert replaced(written, NEW) == written
    assert replaced(written, OLD) == text


@given(texts)
def test_first_block_comes_last(text: str) -> None:
    """The last line that matches decides, so a new block follows what is there."""
    written = replaced(text, NEW)

    assert written.endswith(NEW)
    assert written.startswith(text.rstrip())
    assert replaced(written, NEW) == written


@pytest.mark.parametrize(
    "text", [BEGIN, END, f"{END}\n{BEGIN}", f"{OLD}{OLD}", f"{BEGIN}\n{BEGIN}\n{END}"]
)
def test_marks_that_are_no_pair_are_refused(text: str) -> None:
    """Nothing is guessed about what a person wrote between them."""
    with pytest.raises(TreeError, match="CODEOWNERS needs one line"):
        replaced(text, NEW)


@given(st.lists(st.sampled_from(PATTERNS), max_size=4))
def test_each_line_that_takes_a_file_of_the_block_is_reported(patterns: list[str]) -> None:
    """No line is missed that changes the owners of a file."""
    below = "".join(f"{pattern} @org/other\n" for pattern in patterns)
    taken = any(owners_of(NEW + below, file) != owners_of(NEW, file) for file in FILES)
    reported = list(overriding(NEW + below))

    assume(patterns)
    assert bool(reported) or not taken
    assert all((NEW + below).split("\n")[number - 1].startswith(it) for number, it in reported)


@pytest.mark.parametrize(
    "line", ["", "# /profiles/ @org/x", "[Section]", "^[Optional] @x", "/docs/ @x", "/pro @x"]
)
def test_line_that_takes_nothing_is_not_reported(line: str) -> None:
    assert list(overriding(f"{NEW}{line}\n")) == []
    assert list(overriding(f"*.yaml @org/above\n{NEW}{line}")) == []
