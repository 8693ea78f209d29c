from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert reported == text or not text.isprintable()
