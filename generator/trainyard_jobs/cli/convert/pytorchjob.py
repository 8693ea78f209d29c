"""``trainyard convert pytorchjob``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard_jobs.cli.convert.printing import need_jobs, printed
from trainyard_jobs.cli.convert.team import chosen_team, team_options
from trainyard_jobs.workflows.convert import convert_pytorchjobs

_SOURCE = click.Path(exists=True, allow_dash=True, path_type=Path)


@click.command("pytorchjob")
@click.argument("files", nargs=-1, required=True, type=_SOURCE, metavar="FILE...")
@team_options
def command(files: tuple[Path, ...], team: str | None, cluster: str | None, profiles: Path) -> int:
    """Turn the PyTorchJobs of each FILE into TrainJobs.

    A FILE is YAML or JSON, a folder of such files, or `-` for standard input, e.g. of `kubectl get
    pytorchjobs -o yaml`. Prints the TrainJobs, and on stderr a line for each field that is lost or
    means something else.
    """
    converted = convert_pytorchjobs(files, chosen_team(profiles, cluster, team))
    need_jobs(converted, files, "no PyTorchJob of kubeflow.org")
    return printed(converted)
