"""``trainyard convert slurm``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard_jobs.cli.convert.printing import printed
from trainyard_jobs.cli.convert.team import chosen_team, team_options
from trainyard_jobs.workflows.convert_slurm import convert_batch_scripts

_SOURCE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command("slurm")
@click.argument("scripts", nargs=-1, required=True, type=_SOURCE, metavar="SCRIPT...")
@team_options
def command(
    scripts: tuple[Path, ...], team: str | None, cluster: str | None, profiles: Path
) -> int:
    """Turn the batch scripts of `sbatch` into TrainJobs.

    Reads the `#SBATCH` lines and the commands that start the ranks: `srun`, `mpirun`, `torchrun`,
    `accelerate` or `deepspeed`. What stands around them is carried over. Nothing is run. Prints the
    TrainJobs, and on stderr a line for each option and each command that is lost or means something
    else. `-` is standard input.
    """
    return printed(convert_batch_scripts(scripts, chosen_team(profiles, cluster, team)))
