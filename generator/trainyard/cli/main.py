"""Run a command, and turn whatever ends it into a sentence and an exit code."""

from __future__ import annotations

import gc
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain

import click

from trainyard import __version__
from trainyard.cli.app import app, help_lines
from trainyard.cli.console import notify, printable
from trainyard.cli.exits import Exit, NoInput
from trainyard.diagnostics import ToolError, TreeError

_BEFORE_COLLECTION = 10_000_000
"""Objects. A command makes many and drops few: collecting garbage took a tenth of its time."""

_FRAMES = 6


def main() -> int:
    """Run the command line that the process was started with and return its exit code."""
    gc.set_threshold(_BEFORE_COLLECTION)
    args = sys.argv[1:]
    code = run(args)
    return code if _flushed() else Exit.IO


def run(args: Sequence[str]) -> int:
    """Run a command and return its exit code; an error is one sentence on stderr."""
    if sys.stdout is None:
        notify("error: standard output is closed")
        return Exit.IO
    try:
        return _invoke(args)
    except SystemExit as end:
        # A reader closed the pipe, or a shell asked for completions.
        return Exit.FINE if _asks_only(args) else int(end.code or 0)
    except Exception as problem:  # noqa: BLE001 - everything unexpected is reported as a bug
        return _bug(args, problem)


def _invoke(args: Sequence[str]) -> int:
    try:
        return int(
            app.main(args=list(args), prog_name="trainyard", standalone_mode=False) or Exit.FINE
        )
    except click.exceptions.NoArgsIsHelpError as problem:
        notify(problem.format_message())
        return Exit.USAGE
    except click.ClickException as problem:
        return _usage(problem)
    except click.Abort:
        notify("interrupted")
        return Exit.INTERRUPTED
    except (NoInput, ToolError, TreeError) as problem:
        notify(f"error: {printable(str(problem))}")
        return _code_of(problem)
    except OSError as problem:
        notify(f"error: {problem.filename or 'standard output'}: {problem.strerror}")
        return Exit.IO


def _code_of(problem: NoInput | ToolError | TreeError) -> Exit:
    """Return the exit code of an error, which may be of a kind below these."""
    if isinstance(problem, NoInput):
        return Exit.NO_INPUT
    return Exit.TOOL if isinstance(problem, ToolError) else Exit.IO


def _usage(problem: click.ClickException) -> int:
    context = getattr(problem, "ctx", None)
    hint = f"\nTry `{context.command_path} --help`." if context else ""
    notify(f"error: {printable(problem.format_message())}{hint}")
    return Exit.USAGE


def _asks_only(args: Sequence[str]) -> bool:
    """Return whether only help or the version was printed, which a reader may stop reading."""
    return not {"-h", "--help", "--version"}.isdisjoint(args)


def _flushed() -> bool:
    """Return whether all output was written; if not, keep the interpreter from trying again."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _bug(args: Sequence[str], problem: Exception) -> int:
    frames = traceback.format_tb(problem.__traceback__)[-_FRAMES:]
    report = (
        f"trainyard {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"command: {' '.join(['trainyard', *_without_values(args)])}\n"
        f"{type(problem).__name__}\n\n{''.join(frames)}"
    )
    notify(f"internal error: {type(problem).__name__}; this is a bug of Trainyard")
    try:
        handle, path = tempfile.mkstemp(prefix="trainyard-bug-", suffix=".txt", text=True)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(report)
    except OSError:
        notify("no report could be written")
    else:
        notify(
            f"Please report it with {path}, which holds the names of the command and its options, "
            "and where it failed. It holds no value, file or environment variable."
        )
    return Exit.BUG


def _without_values(args: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command line that Trainyard defines, and dots for all others.

    Neither these nor the text of an exception reach a report: both may hold a token.
    """
    group: click.Command = app
    names = set(help_lines())
    for word in args:
        name = word.partition("=")[0]
        yield name if name in names else "..."
        if isinstance(group, click.Group) and name in names:
            with suppress(Exception):
                group = group.get_command(click.Context(group), name) or group
                names = _names(group)


def _names(command: click.Command) -> set[str]:
    """Return the options of a command, and the commands of a group."""
    below = command.commands if isinstance(command, click.Group) else ()
    return {*below, *chain.from_iterable(param.opts for param in command.params)}
