from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from generator.cli.app import COMMANDS, app
from tests.cli.calls import REPOSITORY


def _commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path}{name} ")


EVERY = dict(_commands(app))


def test_list_of_commands_tells_what_each_says_of_itself() -> None:
    """The table that saves loading the commands repeats their own words."""
    assert {name: EVERY[name].short_help for name in COMMANDS} == COMMANDS


@pytest.mark.parametrize("command", EVERY.values(), ids=EVERY)
def test_command_and_options_have_help(command: click.Command) -> None:
    """Nobody has to guess what a command or an option does."""
    assert command.help
    assert [each.name for each in command.params if isinstance(each, click.Option) and not each.help] == []


@pytest.mark.parametrize("command", EVERY.values(), ids=EVERY)
def test_every_option_is_read(command: click.Command) -> None:
    """An option that the command's function does not use would be a promise that nobody keeps."""
    assert command.callback is not None
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(command.callback))))
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}

    assert {each.name for each in command.params} <= read


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("trainyard ve", ["verify"]),
        ("trainyard x", []),
        ("trainyard show n", ["nlp"]),
        ("trainyard generate --cluster p", ["prod-east"]),
        ("trainyard explain capacity/over", ["capacity/oversubscribed"]),
        ("trainyard schema te", ["team"]),
        ("trainyard validate --format j", ["json"]),
        ("trainyard show --profiles nowhere n", []),
        ("trainyard add t", ["team"]),
    ],
)
def test_shell_completes(words: str, expected: list[str], repository: Path) -> None:
    """The shell knows commands, teams, clusters, rules, kinds and forms."""
    done = subprocess.run(
        [sys.executable, "-m", "generator"],
        cwd=repository,
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "_TRAINYARD_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
        capture_output=True,
        check=True,
        text=True,
    )

    assert [line.partition(",")[2] for line in done.stdout.split()] == expected
    assert done.stderr == ""
