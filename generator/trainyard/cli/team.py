"""The team that submits jobs: its cluster, and the tree of that cluster."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli.options import components_root, need_name, need_profiles, today
from trainyard.diagnostics import has_errors
from trainyard.model.platform import Platform
from trainyard.workflows.generate import Generation, check, render


def cluster_of_team(platform: Platform, team: str, cluster: str | None) -> str:
    """Return the name of a team's cluster, without a name of the only one that it is on.

    Args:
        platform: without gaps.
        team: as the user named it.
        cluster: that a user named, and that has a profile; None for none.

    Raises:
        click.UsageError: the team is not there, or is on several clusters and none is named.
    """
    teams = {site.name: {tenant.name for tenant in site.tenants} for site in platform.sites}
    need_name("team", team, set[str]().union(*teams.values()))
    homes = [name for name, names in teams.items() if team in names]
    if cluster is None:
        return _only(team, homes)
    if cluster not in homes:
        listed = ", ".join(homes)
        raise click.UsageError(f"there is no team `{team}` on {cluster}; it is on {listed}")
    return cluster


def _only(team: str, homes: list[str]) -> str:
    if len(homes) > 1:
        listed = ", ".join(homes)
        raise click.UsageError(f"team {team} is on several clusters; name a `--cluster`: {listed}")
    return homes[0]


def generate_for_team(
    profiles: Path, output: Path, team: str, cluster: str | None
) -> tuple[Generation, str]:
    """Return the tree of a team's cluster and the cluster's name; neither if there are errors.

    Raises:
        NoInput: the folder holds no profile.
        click.UsageError: as `cluster_of_team`, or the cluster has no profile.
    """
    need_profiles(profiles, [cluster] if cluster else [])
    checked = check(profiles, today())
    if checked.platform is None or has_errors(checked.diagnostics):
        return Generation(checked, checked.diagnostics), ""
    name = cluster_of_team(checked.platform, team, cluster)
    return render(checked, components_root(profiles, output), [name]), name
