"""``--format F[:FILE]``: the same result in several forms, each to its own place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from trainyard.cli.console import result, wants_colour
from trainyard.diagnostics import TreeError

_NAMES = ("text", "json")


@dataclass(frozen=True, slots=True)
class Output:
    """One wanted form; on stdout when it has no file."""

    form: str
    file: Path | None = None


def parse_output(text: str) -> Output:
    """Read ``F`` or ``F:FILE``.

    Raises:
        click.BadParameter: there is no such form, or no file after the colon.
    """
    form, colon, file = text.partition(":")
    if form not in _NAMES or (colon and not file):
        raise click.BadParameter(
            f"`{text}` is neither {' nor '.join(_NAMES)}, alone or followed by `:FILE`"
        )
    return Output(form, Path(file) if colon else None)


def complete_form(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the form."""
    return [CompletionItem(name) for name in _NAMES if name.startswith(incomplete)]


def one_on_stdout(
    _: click.Context, __: click.Parameter, outputs: tuple[Output, ...]
) -> tuple[Output, ...]:
    """Refuse two forms on stdout, where neither could be read."""
    if sum(output.file is None for output in outputs) > 1:
        raise click.BadParameter(
            "only one form can go to stdout; give the others a file: `--format json:FILE`"
        )
    return outputs


def deliver(
    outputs: tuple[Output, ...],
    colour: str,
    text: Callable[[bool], str],
    document: Callable[[], str],
) -> None:
    """Write a result in every wanted form.

    Args:
        outputs: the forms.
        colour: ``auto``, ``always`` or ``never``; files get none.
        text: from whether colours are wanted to the text.
        document: to the JSON text.

    Raises:
        TreeError: a file can't be written.
        OSError: stdout did not take it.
    """
    for output in outputs:
        content = (
            document()
            if output.form == "json"
            else text(output.file is None and wants_colour(colour))
        )
        if output.file is None:
            result(content)
        else:
            _save(output.file, content)


def _save(file: Path, content: str) -> None:
    try:
        file.write_text(f"{content}\n", encoding="utf-8", newline="\n")
    except OSError as problem:
        raise TreeError(f"{file} can't be written: {problem.strerror}") from problem
