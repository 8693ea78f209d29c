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
    """A log gets no announcement."""
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with console.working("verifying"):
        time.sleep(0.1)

    assert capsys.readouterr() == ("", "verifying ...\n" if terminal else "")


def test_short_work_is_not_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
    """No text controls the terminal, and harmless text stays as it is."""
    reported = console.printable(text)

    assert reported.isprintable()
    assert reported == text or not text.isprintable()
