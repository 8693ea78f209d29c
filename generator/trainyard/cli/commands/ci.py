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

_INCLUDE, _FACTS = ".gitlab/trainyard.yml", ".gitlab/trainyard-facts.yml"


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
@click.option(
    "--facts",
    "clusters",
    multiple=True,
    metavar="CLUSTER",
    help="Also the job with which a runner at the site of CLUSTER reads it daily, and the check "
    "of pull requests with what it read; may be given several times.",
)
def command(system: str, folder: Path, origin: str, clusters: tuple[str, ...]) -> int:
    """Write the files with which SYSTEM checks pull requests of the platform in DIR.

    DIR is the current folder by default. The files go into its Git repository. None is ever
    overwritten: remove a file to take it from a newer Trainyard.
    """
    root, new = plan(system, folder, origin, clusters)
    write_ci(root, new)
    facts = SYSTEMS[system].facts if clusters else {}
    for path in (*SYSTEMS[system].files, *facts):
        where = shown_folder(root / path)
        result(f"wrote {where}" if path in new else f"{where} is there already")
    for line in _next_steps(root, new):
        notify(line)
    return Exit.FINE


def plan(
    system: str, folder: Path, origin: str = "", clusters: tuple[str, ...] = ()
) -> tuple[Path, dict[str, bytes]]:
    """Return the root of the Git repository, and the files that it lacks.

    Raises:
        TreeError: a file is there with other content.
        click.UsageError: a value has a form that a template can't take.
    """
    try:
        return plan_ci(system, folder, origin, clusters)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None


def _next_steps(root: Path, new: dict[str, bytes]) -> Iterator[str]:
    """Yield each placeholder to replace, and what is left to do by hand."""
    for path, content in new.items():
        for line, what in placeholders(content):
            yield f"{shown_folder(root / path)}:{line}: {what}"
    # The file of a person is never changed, and the one that is written includes the checks alone.
    wanted = [_INCLUDE] if ".gitlab-ci.yml" not in new else []
    for path in (*wanted, _FACTS):
        if path in new:
            yield f"Add to .gitlab-ci.yml: include: [{{local: {path}}}]"
