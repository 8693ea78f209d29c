from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Mapping

import pytest

from tests.cli.calls import REPOSITORY
from trainyard.cli import progress

_ERASE = "\r\x1b[K"
_WORK = """
import time
from trainyard.cli import progress
from trainyard.cli.console import result
progress._PATIENCE = {patience}
with progress.working("verifying", "sync units") as line:
    time.sleep(0.3)
    for number in range(1000):
        line.step(number + 1, 1000)
        time.sleep(0.0005)
    line.say("a note")
    time.sleep(0.2)
    line.step(1000, 1000)
result("done")
"""


def _screen(patience: float, environment: Mapping[str, str]) -> str:
    """Return the bytes that a terminal gets from a program that works for a second."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _WORK.format(patience=patience)],
        stdout=end,
        stderr=end,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(REPOSITORY / "generator"),
            "COLUMNS": "80",
            "TERM": "xterm",
            **environment,
        },
    )
    os.close(end)
    printed = b""
    while True:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not chunk:
            break
        printed += chunk
    os.close(terminal)
    assert process.wait() == 0
    return printed.decode().replace("\r\n", "\n")


@pytest.mark.thorough
def test_line_counts_and_leaves_nothing_behind() -> None:
    """One line is rewritten, at most ten times a second, and erased before anything else."""
    printed = _screen(0.1, {})
    assert f"{_ERASE}verifying ..." in printed
    counted = re.findall(rf"{re.escape(_ERASE)}verifying ([0-9,]+)/1,000 sync units", printed)
    assert 3 <= len(counted) <= 20
    assert f"{_ERASE}a note\n{_ERASE}verifying " in printed
    assert printed.endswith(f"{_ERASE}done\n")
    assert printed.count("\n") == 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("patience", "environment"), [(60, {}), (0.1, {"CI": "true"}), (0.1, {"TERM": "dumb"})]
)
def test_nothing_is_drawn_for_short_work_or_on_request(
    patience: float, environment: dict[str, str]
) -> None:
    assert _screen(patience, environment) == "a note\ndone\n"


@pytest.mark.thorough
def test_line_fits_a_narrow_terminal() -> None:
    """A line that the terminal breaks could not be erased."""
    lines = _screen(0.1, {"COLUMNS": "12"}).split(_ERASE)
    drawn = [line for line in lines if line.startswith("verifying")]
    assert drawn
    assert max(map(len, drawn)) == 11


@pytest.mark.parametrize("terminals", [(True, False), (False, True), (False, False)])
def test_pipe_gets_nothing(
    terminals: tuple[bool, bool],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither stdout nor stderr may be a pipe: another program may draw on the same screen."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminals[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminals[1])
    with progress.working("verifying", "units") as line:
        time.sleep(0.05)
        line.step(1, 2)

    assert capsys.readouterr() == ("", "")


def _interrupted() -> None:
    with progress.working("verifying"):
        time.sleep(0.2)
        raise KeyboardInterrupt


def test_failure_erases_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error message begins at the first column."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        _interrupted()

    assert capsys.readouterr() == ("", f"{_ERASE}verifying ...{_ERASE}")
