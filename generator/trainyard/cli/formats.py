"""``--format F[:FILE]``: the same result in several forms, each to its own place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from trainyard.cli.console import result, wants_colour
from trainyard.cli.destination import save


@dataclass(frozen=True, slots=True)
class Output:
    """One wanted form; on stdout when it has no file."""

    form: str
    file: Path | None = None


class OutputType(click.ParamType[Output]):
    """``F`` or ``F:FILE``, where F is one of a command's forms."""

    name = "output"

    def __init__(self, forms: tuple[str, ...]) -> None:
        self.forms = forms

    def convert(
        self, value: str | Output, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        """Read an option's value.

        Raises:
            click.BadParameter: there is no such form, or no file after the colon.
        """
        if isinstance(value, Output):
            return value
        form, colon, file = value.partition(":")
        if form not in self.forms or (colon and not file):
            known = ", ".join(self.forms)
            self.fail(f"`{value}` is none of {known}, alone or followed by `:FILE`", param, ctx)
        return Output(form, Path(file) if colon else None)

    def shell_complete(
        self, _: click.Context, __: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the form."""
        return [CompletionItem(form) for form in self.forms if form.startswith(incomplete)]


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
    others: Mapping[str, Callable[[], str]],
) -> None:
    """Write a result in every wanted form.

    Args:
        outputs: the forms.
        colour: ``auto``, ``always`` or ``never``; files get none.
        text: from whether colours are wanted to the text.
        others: form -> its content, for each other form of the command.

    Raises:
        click.UsageError, TreeError: as `save`.
        OSError: stdout did not take it.
    """
    for output in outputs:
        if output.form == "text":
            content = text(output.file is None and wants_colour(colour))
        else:
            content = others[output.form]()
        if output.file is None:
            result(content)
        else:
            save(output.file, f"{content}\n".encode())
