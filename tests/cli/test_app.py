from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from tests.cli.calls import REPOSITORY, commands
from trainyard import __version__
from trainyard.cli.app import app, help_lines
from trainyard.cli.exits import Exit
from trainyard.cli.main import run
from trainyard.diagnostics import ToolError

EVERY = dict(commands(app))


def test_help_of_each_command_is_in_the_table_only() -> None:
    """The list of commands is shown without loading any, so no module repeats its line."""
    assert {name: EVERY[name].short_help for name in help_lines()} == help_lines()
    modules = [
        *REPOSITORY.glob("generator/trainyard*/cli/commands/*.py"),
        REPOSITORY / "generator/trainyard_rehearsal/command.py",
    ]
    assert not [path.name for path in modules if "short_help" in path.read_text("utf-8")]


@pytest.mark.parametrize("command", EVERY.values(), ids=EVERY)
def test_command_and_options_have_help(command: click.Command) -> None:
    """Nobody has to guess what a command or an option does."""
    assert command.help
    assert [
        each.name for each in command.params if isinstance(each, click.Option) and not each.help
    ] == []


@pytest.mark.parametrize("command", EVERY.values(), ids=EVERY)
def test_every_option_is_read(command: click.Command) -> None:
    assert command.callback is not None
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(command.callback))))
    read = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }

    assert {each.name for each in command.params} <= read


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ve", ["verify"]),
        ("x", []),
        ("vrify x", []),
        ("--v", ["--version"]),
        ("show n", ["nlp"]),
        ("show --profiles nowhere n", []),
        ("generate --cluster p", ["prod-east"]),
        ("explain capacity/over", ["capacity/oversubscribed"]),
        ("schema te", ["team"]),
        ("validate --format j", ["json", "junit"]),
        ("validate --color al", ["always"]),
        ("add t", ["team"]),
        ("add team --cluster ", ["lab", "prod-east"]),
    ],
)
def test_words_are_completed(words: str, expected: list[str]) -> None:
    """The shell knows commands, options, teams, clusters, rules, kinds and forms."""
    *before, incomplete = words.split(" ")
    completion = ShellComplete(app, {}, "trainyard", "_TRAINYARD_COMPLETE")

    assert [item.value for item in completion.get_completions(before, incomplete)] == expected


@pytest.mark.thorough
def test_shell_is_answered(repository: Path) -> None:
    """What the shell's own script asks is answered, and nothing else is printed."""
    asked = {
        "_TRAINYARD_COMPLETE": "bash_complete",
        "COMP_WORDS": "trainyard show n",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "trainyard"],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "generator"), **asked},
        capture_output=True,
        check=True,
        text=True,
    )

    assert (done.stdout, done.stderr) == ("plain,nlp\n", "")


def test_broken_extension_stops_no_command_of_the_core(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only its own commands, and the lists of all, need it."""

    def broken() -> None:
        raise ToolError("trainyard_jobs is not installed whole; reinstall Trainyard")

    monkeypatch.setattr("trainyard.cli.app.extensions", broken)

    assert run(["rules"]) == Exit.FINE
    assert run(["fit"]) == Exit.TOOL
    assert "reinstall Trainyard" in capsys.readouterr().err


_EXTRAS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


@pytest.mark.thorough
@pytest.mark.parametrize("library", [each.partition(">")[0] for each in _EXTRAS["rehearse"]])
def test_only_the_rehearsal_needs_its_extra(library: str) -> None:
    """Without the extra, its command shows what to install; completions and other commands work."""
    program = f"""
import sys
sys.modules[{library!r}] = None
from click.shell_completion import ShellComplete
from trainyard.cli.app import app, help_lines
from trainyard.cli.main import run
completer = ShellComplete(app, {{}}, "trainyard", "_TRAINYARD_COMPLETE")
assert not completer.get_completions(["rehearse"], "--te")
print({{name for name in help_lines() if run([name, "--help"])}}, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "generator")},
        capture_output=True,
        check=True,
        text=True,
    )

    sentence = (
        f"error: `rehearse` needs {library}, which is not installed; run `make` in a checkout, or "
        "install the wheel that `make dist` writes: "
        f"`pipx install --force 'dist/trainyard-{__version__}-py3-none-any.whl[rehearse]'`"
    )
    assert done.stderr == f"{sentence}\n{{'rehearse'}}\n"
