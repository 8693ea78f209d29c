"""Find commands by name; a command's module is loaded only when the command runs."""

from __future__ import annotations

from importlib import import_module

import click
from click.shell_completion import CompletionItem

from trainyard import __version__
from trainyard.cli.extension import Extension, extensions
from trainyard.cli.interrupt import at_once
from trainyard.diagnostics import ToolError
from trainyard.model.nearest import nearest

COMMANDS = {
    "init": "Make a repository to start from.",
    "add": "Add a team, an allocation, hardware, a runtime or a cluster.",
    "import": "Draft the profiles of a cluster that runs, from a dump.",
    "release": "Make a release of your own, and show what releases have.",
    "fmt": "Write the profiles in one style, and keep each comment.",
    "validate": "Check the profiles; needs no other program.",
    "generate": "Write the tree that the profiles describe.",
    "resolve": "Solve a merge: later numbers change, and the tree is written anew.",
    "diff": "Show what a change does to teams, networks, jobs and nodes.",
    "cutover": "Show the way of a cluster from what ran there to its tree, team by team.",
    "upgrade": "Plan the upgrade of a cluster to another release, and edit its profiles.",
    "verify": "Check the committed tree offline, object by object.",
    "facts": "Read what the checks of a cluster need, by kubectl or from dumps.",
    "preflight": "Compare a cluster, as it runs, with its committed tree.",
    "drift": "Show what somebody changed on a cluster by hand.",
    "capacity": "Show what each pool has, and what teams own, lend and may borrow.",
    "report": "Write a page that shows the whole platform and what was checked.",
    "show": "Show a team's effective values and where each comes from.",
    "explain": "Explain a rule: what it demands, why, and how to put it right.",
    "rules": "List the rules.",
    "codeowners": "Write CODEOWNERS from the owners that the profiles state.",
    "comment": "Keep one comment on a pull request up to date.",
    "ci": "Write the files that let a CI system check pull requests.",
    "schema": "Print the JSON Schema of a kind of profile, or of what a command prints.",
    "doctor": "Show versions of tools, and whether all is there.",
}
"""Line in the help by name of each command of the core, in the order of first use."""
_MODULES = {name: f"trainyard.cli.commands.{name}" for name in COMMANDS}
# `import` is a word of Python.
_CORE = Extension(
    "Commands", COMMANDS, {**_MODULES, "import": "trainyard.cli.commands.import_dump"}
)


class Commands(click.Group):
    """A group that loads its commands on demand."""

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the names in the order of first use."""
        return list(help_lines())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load a command.

        Raises:
            click.UsageError: no command has that name, and the shell does not ask for completions.
            ToolError: its extra is not installed.
        """
        if name not in COMMANDS and name not in help_lines():
            near = "" if ctx.resilient_parsing else nearest(name, help_lines())
            if near:
                raise click.UsageError(f"there is no command `{name}`; did you mean `{near}`?", ctx)
            return None
        try:
            with at_once():
                return _load(name)
        except ToolError:
            if ctx.resilient_parsing:
                return None
            raise

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading them."""
        for extension in (_CORE, *extensions()):
            with formatter.section(extension.title):
                formatter.write_dl(list(extension.commands.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without loading any."""
        lines = help_lines()
        items = [
            CompletionItem(name, help=lines[name]) for name in lines if name.startswith(incomplete)
        ]
        return items or super().shell_complete(ctx, incomplete)


def help_lines() -> dict[str, str]:
    """Return the line in the help of each command by its name; none is loaded."""
    return {
        name: line
        for extension in (_CORE, *extensions())
        for name, line in extension.commands.items()
    }


def _load(name: str) -> click.Command:
    # A broken extension stops no command of the core.
    others = () if name in COMMANDS else extensions()
    extension = next(each for each in (_CORE, *others) if name in each.commands)
    try:
        command = import_module(extension.modules[name]).command
    except ModuleNotFoundError as missing:
        if missing.name not in extension.extra.get(name, ()):
            raise
        wheel = f"dist/trainyard-{__version__}-py3-none-any.whl[{name}]"
        raise ToolError(
            f"`{name}` needs {missing.name}, which is not installed; run `make` in a checkout, or "
            f"install the wheel that `make dist` writes: `pipx install --force '{wheel}'`"
        ) from missing
    assert isinstance(command, click.Command)
    command.short_help = extension.commands[name]
    return command


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, message="trainyard %(version)s")
def app() -> None:
    """Turn short profiles into a validated GitOps tree for multi-team training on GPU nodes.

    Exit codes: 0 fine, 1 findings, 2 usage, 3 no input, 4 a tool is missing or broken, 5 input or
    output failed, 70 a bug of Trainyard, 130 interrupted.
    """
