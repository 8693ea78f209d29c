"""``trainyard convert sagemaker``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli.exits import Exit, NoInput
from trainyard.handed_in import shown
from trainyard_jobs.cli.convert.printing import printed
from trainyard_jobs.cli.convert.team import BrokenProfiles, chosen_team, team_options
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
    try:
        tenant = chosen_team(profiles, cluster, team)
    except BrokenProfiles:
        return Exit.FINDINGS
    converted = convert_training_jobs(files, tenant)
    if not converted.conversions:
        names = ", ".join(map(shown, files))
        raise NoInput(f"{names} has neither a training job nor an estimator")
    return printed(converted)
