"""``trainyard ci``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.places import shown_folder
from trainyard.scaffold.ci import SYSTEMS, write_ci
from trainyard.scaffold.template import placeholders
from trainyard.workflows.begin import plan_ci

_INCLUDE = ".gitlab/trainyard.yml"


@click.command("ci")
@click.argument("system", type=click.Choice(sorted(SYSTEMS)))
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path), default="."
)
@click.option(
    "--from",
    "origin",
    default="",
    metavar="PINNED",
    help="Trainyard itself, pinned: for GitHub its repository and commit, OWNER/NAME@SHA; for the "
    "others an image, NAME@sha256:DIGEST. Default: a placeholder.",
)
def command(system: str, folder: Path, origin: str) -> int:
    """Write the files with which SYSTEM checks pull requests of the platform in DIR.

    DIR is the current folder by default. The files go into its Git repository. None is ever
    overwritten: remove a file to take it from a newer Trainyard.
    """
    root, new = plan(system, folder, origin)
    write_ci(root, new)
    for path in SYSTEMS[system].files:
        where = shown_folder(root / path)
        result(f"wrote {where}" if path in new else f"{where} is there already")
    for line in _next_steps(root, new):
        notify(line)
    return Exit.FINE


def plan(system: str, folder: Path, origin: str = "") -> tuple[Path, dict[str, bytes]]:
    """Return the root of the Git repository, and the files that it lacks.

    Raises:
        TreeError: a file is there with other content.
        click.UsageError: a value has a form that a template can't take.
    """
    try:
        return plan_ci(system, folder, origin)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None


def _next_steps(root: Path, new: dict[str, bytes]) -> Iterator[str]:
    """Yield each placeholder to replace, and what is left to do by hand."""
    for path, content in new.items():
        for line, what in placeholders(content):
            yield f"{shown_folder(root / path)}:{line}: {what}"
    if _INCLUDE in new and ".gitlab-ci.yml" not in new:
        yield f"Add to .gitlab-ci.yml: include: [{{local: {_INCLUDE}}}]"
