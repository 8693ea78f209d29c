"""Print results on stdout and everything else on stderr, without control characters."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from trainyard.cli.exits import Exit

_PATIENCE = 2.0  # seconds without a word; after that one wonders


def say(message: str) -> None:
    """Print a message on stderr; nobody can be told that this failed."""
    with suppress(OSError):
        click.echo(message, err=True)


def result(text: str) -> None:
    """Print a result on stdout with its colours; end silently when the reader closed the pipe.

    Raises:
        OSError: it did not arrive.
    """
    try:
        click.echo(text, color=True)
    except BrokenPipeError:
        # click would end with the exit code of findings.
        sys.exit(Exit.IO)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Tell on a terminal what is going on when it takes more than a moment."""
    timer = threading.Timer(_PATIENCE, say, [f"{what} ..."])
    timer.daemon = True
    if sys.stderr is not None and sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def wants_colour(choice: str) -> bool:
    """Decide about colour by the option, NO_COLOR, FORCE_COLOR and whether stdout is a terminal.

    Sources: https://no-color.org and https://force-color.org; a variable that is set and empty says
    nothing.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """Return text with everything escaped that could steer a terminal or hide what is there."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
