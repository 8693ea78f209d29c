"""``trainyard convert sagemaker``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard_jobs.cli.convert.printing import need_jobs, printed
from trainyard_jobs.cli.convert.team import chosen_team, team_options
from trainyard_jobs.workflows.convert_sagemaker import convert_training_jobs

_SOURCE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command("sagemaker")
@click.argument("files", nargs=-1, required=True, type=_SOURCE, metavar="FILE...")
@team_options
def command(files: tuple[Path, ...], team: str | None, cluster: str | None, profiles: Path) -> int:
    """Turn training jobs of SageMaker into TrainJobs.

    A FILE is JSON for `aws sagemaker create-training-job` or from `describe-training-job`, or
    Python source with an estimator or a ModelTrainer, which is read and never run. Prints the
    TrainJobs, and on stderr a line for each argument that is lost or means something else. `-` is
    standard input.
    """
    converted = convert_training_jobs(files, chosen_team(profiles, cluster, team))
    need_jobs(converted, files, "neither a training job nor an estimator")
    return printed(converted)
