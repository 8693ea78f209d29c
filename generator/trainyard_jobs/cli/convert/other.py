"""``trainyard convert job``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli.console import notify, printable
from trainyard.cli.exits import Exit, NoInput
from trainyard.cli.places import Places
from trainyard.handed_in import shown
from trainyard_jobs.workflows.doors import doors_of

_SOURCE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command("job")
@click.argument("file", type=_SOURCE)
def command(file: Path) -> int:
    """Say what becomes of each job in FILE: which command converts it, or why none does.

    Knows the jobs of Kubeflow's training operator, Ray, Volcano and of Kubernetes itself. Converts
    nothing, so the exit code is 1. `-` is standard input.
    """
    source, doors = doors_of(file)
    if not doors:
        raise NoInput(f"{shown(file)} has no job of a known kind")
    places = Places({source.file: source}, {})
    for at, what, meaning in doors:
        notify(printable(f"{places.find(at)}: refused: {what}: {meaning}"))
    return Exit.FINDINGS
