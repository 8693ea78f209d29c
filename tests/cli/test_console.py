from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.cli import console


@pytest.mark.parametrize("terminal", [True, False])
def test_long_work_is_announced_on_a_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person who waits is told what for; a log is not."""
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with console.working("verifying"):
        time.sleep(0.1)

    assert capsys.readouterr() == ("", "verifying ...\n" if terminal else "")


def test_short_work_is_not_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is done in a moment needs no word."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with console.working("verifying"):
        pass

    assert capsys.readouterr() == ("", "")


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
    """Nothing steers the terminal, and what is harmless stays as it is."""
    told = console.printable(text)

    assert told.isprintable()
    assert told == text or not text.isprintable()
