"""Options of several commands."""

from __future__ import annotations

from collections.abc import Callable

import click

from trainyard.cli.options import Command, complete_cluster, complete_team


def team_option(meaning: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Return the option ``--team``."""
    return click.option(
        "--team", required=required, metavar="NAME", shell_complete=complete_team, help=meaning
    )


def cluster_option(submitted: str) -> Callable[[Command], Command]:
    """Return the option ``--cluster`` of what is submitted: a job, or several."""
    meaning = f"Cluster of the {submitted}, if the team is on several."
    return click.option("--cluster", metavar="NAME", shell_complete=complete_cluster, help=meaning)
