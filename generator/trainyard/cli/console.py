"""Print results on stdout and everything else on stderr, without control characters."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress

import click

from trainyard.cli.exits import Exit


def notify(message: str) -> None:
    """Print a message on stderr, and ignore write errors."""
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


def wants_colour(choice: str) -> bool:
    """Decide about colour by the option, NO_COLOR, FORCE_COLOR and whether stdout is a terminal.

    Sources: https://no-color.org and https://force-color.org; a variable that is set and empty has
    no effect.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """Return text on one line that controls neither a terminal nor a runner of GitHub Actions.

    Nothing in it hides other text. The runner reads ``::command::`` at the begin of a line of a
    job's output, and ``##[command]`` anywhere in it
    (actions/runner:src/Runner.Common/ActionCommand.cs).
    """
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
    return re.sub("^( *)::", r"\1\\x3a:", shown.replace("##[", r"##\x5b"))
