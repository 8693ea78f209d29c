"""``trainyard convert``."""

from __future__ import annotations

import click

from trainyard_jobs.cli.convert import mpijob, other, pytorchjob, sagemaker, slurm


@click.group("convert")
def command() -> None:
    """Turn jobs of other systems into TrainJobs, and name what is lost or means something else.

    With `--team` a runtime of the team is chosen, and `trainyard fit` admits the result.
    """


command.add_command(mpijob.command)
command.add_command(pytorchjob.command)
command.add_command(slurm.command)
command.add_command(sagemaker.command)
command.add_command(other.command)
