"""The team that submits the converted jobs: its options, and its profile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import notify
from trainyard.cli.options import (
    Command,
    complete_cluster,
    complete_team,
    need_profiles,
    places,
    profiles_option,
)
from trainyard.cli.team import cluster_of_team
from trainyard.generation.generate import check
from trainyard.model.tenant import Tenant
from trainyard_jobs.workflows.convert import tenant_of


class BrokenProfiles(Exception):  # noqa: N818 - the findings are printed; it only ends the command
    """The profiles have errors, so no team can be read."""


def team_options(command: Command) -> Command:
    """Add the options that name the team."""
    options: tuple[Callable[[Command], Command], ...] = (
        profiles_option,
        click.option(
            "--cluster",
            metavar="NAME",
            shell_complete=complete_cluster,
            help="Cluster of the jobs, if the team is on several.",
        ),
        click.option(
            "--team",
            metavar="NAME",
            shell_complete=complete_team,
            help="Team that submits the jobs: chooses runtime, namespace, queue and priority.",
        ),
    )
    for option in options:
        command = option(command)
    return command


def chosen_team(profiles: Path, cluster: str | None, team: str | None) -> Tenant | None:
    """Return the team of the options; None without `--team`.

    Raises:
        BrokenProfiles: the profiles have errors, which are printed.
        click.UsageError: there is no such team on the cluster.
    """
    if team is None:
        if cluster is not None:
            raise click.UsageError("`--cluster` needs a `--team`")
        return None
    need_profiles(profiles, [cluster] if cluster else [])
    checked = check(profiles)
    if checked.platform is None:
        found = findings.Findings(checked.diagnostics, places(checked.profiles, profiles))
        notify(findings.text(found, colour=False))
        raise BrokenProfiles
    return tenant_of(checked.platform, team, cluster_of_team(checked.platform, team, cluster))
