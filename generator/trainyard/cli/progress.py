"""Show on a terminal how far a command is: one line on stderr, which is erased at the end."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from trainyard.cli.console import notify
from trainyard.generation.generate import Run
from trainyard.proofs import UNKNOWN, of_this_machine

_PATIENCE = 1.0
"""Seconds before the line is shown."""
_PAUSE = 0.1
"""Seconds between two versions of the line."""
_ERASE = "\r\x1b[K"
"""To the first column, and erase to the end of the line (ECMA-48, CR and EL)."""


class Line:
    """The line of a command that works.

    Args:
        activity: of the command, e.g. ``verifying``.
        things: that it counts, e.g. ``sync units``; empty if it counts none.
        shown: whether anybody looks at it.
    """

    def __init__(self, activity: str, things: str, *, shown: bool) -> None:
        self._text = f"{activity} ..."
        self._activity, self._things = activity, things
        self._lock = threading.Lock()
        self._begun = self._ended = False
        self._last = 0.0
        self._timer = threading.Timer(_PATIENCE, self._begin)
        self._timer.daemon = True
        if shown:
            self._timer.start()

    def step(self, done: int, total: int) -> None:
        """Count the things that are done."""
        with self._lock:
            self._text = f"{self._activity} {done:,}/{total:,} {self._things}"
            now = time.monotonic()
            if self._begun and now - self._last >= _PAUSE:
                self._last = now
                self._draw()

    def say(self, message: str) -> None:
        """Print a message on stderr, above the line."""
        with self._lock:
            self._erase()
            notify(message)
            self._draw()

    def end(self) -> None:
        """Erase the line and show it no more."""
        self._timer.cancel()
        with self._lock:
            self._erase()
            self._ended = True

    def _begin(self) -> None:
        with self._lock:
            self._begun = True
            self._draw()

    def _draw(self) -> None:
        if self._begun and not self._ended:
            # A line that the terminal breaks would not be erased whole.
            width = shutil.get_terminal_size().columns - 1
            _put(f"{_ERASE}{self._text[:width]}")

    def _erase(self) -> None:
        if self._begun and not self._ended:
            _put(_ERASE)


@contextmanager
def working(activity: str, things: str = "") -> Iterator[Line]:
    """Show how far a command is, on a terminal and when it takes more than a moment.

    Nothing is shown when stdout is not a terminal either, since two programs would write to one
    screen (npm/cli#7507), with ``CI`` set, or on a terminal that can't erase (``TERM=dumb``).

    Args:
        activity: as `Line` takes it.
        things: as `Line` takes them.
    """
    line = Line(activity, things, shown=_is_watched())
    try:
        yield line
    finally:
        line.end()


def remembering(line: Line, *, nothing: bool = False) -> Run:
    """Return a run that a line shows, and that knows what this machine did before."""
    return Run(line.step, UNKNOWN if nothing else of_this_machine())


def _is_watched() -> bool:
    streams = (sys.stdout, sys.stderr)
    terminals = all(stream is not None and stream.isatty() for stream in streams)
    return terminals and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"


def _put(text: str) -> None:
    with suppress(OSError):
        click.echo(text, nl=False, err=True, color=True)
