from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.forms.readers import commands
from trainyard.cli import console


@pytest.mark.parametrize(("term", "wanted"), [("xterm", True), ("dumb", False)])
def test_terminal_decides_when_nobody_else_does(
    term: str, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a word of the user a terminal gets colours, if it can show them."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", term)
    assert console.wants_colour("auto") is wanted

    monkeypatch.setenv("NO_COLOR", "1")
    assert console.wants_colour("auto") is False


@given(st.text())
def test_printable_text_is_printable_and_the_rest_is_escaped(text: str) -> None:
    """No text controls the terminal, and harmless text stays as it is."""
    reported = console.printable(text)

    assert reported.isprintable()
    assert reported == text or not text.isprintable() or "::" in text or "##[" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::forged", r"\x3a:error::forged"),
        ("  ::add-mask::a", r"  \x3a:add-mask::a"),
        ("a ##[add-mask]b", r"a ##\x5badd-mask]b"),
        ("a::b: #[c]", "a::b: #[c]"),
    ],
)
def test_printable_text_is_no_command_of_a_runner(text: str, shown: str) -> None:
    """Wherever a runner of GitHub Actions would obey it; other text stays as it is."""
    assert console.printable(text) == shown
    assert commands(shown) == []
