"""The team that submits the converted jobs: its options, and its profile."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import notify
from trainyard.cli.exits import Exit
from trainyard.cli.options import Command, need_profiles, places, profiles_option
from trainyard.cli.team import cluster_of_team
from trainyard.generation.generate import check
from trainyard.model.tenant import Tenant
from trainyard_jobs.cli.options import cluster_option, team_option
from trainyard_jobs.workflows.convert import tenant_of


def team_options(command: Command) -> Command:
    """Add the options that name the team."""
    of_team = "Team that submits the jobs: chooses runtime, namespace, queue and priority."
    return team_option(of_team)(cluster_option("jobs")(profiles_option(command)))


def chosen_team(profiles: Path, cluster: str | None, team: str | None) -> Tenant | None:
    """Return the team of the options; None without `--team`.

    Raises:
        click.exceptions.Exit: the profiles have errors, which are printed.
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
        raise click.exceptions.Exit(Exit.FINDINGS)
    return tenant_of(checked.platform, team, cluster_of_team(checked.platform, team, cluster))
