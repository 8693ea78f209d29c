"""The team that submits jobs: its cluster, and the tree of that cluster."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from trainyard.cli.live import site_of
from trainyard.cli.options import components_root, need_name, need_profiles, today
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Generation, check, render
from trainyard.model.platform import Platform


def cluster_of_team(platform: Platform, team: str, cluster: str | None) -> str:
    """Return the name of a team's cluster, without a name of the only one that it is on.

    Args:
        platform: without gaps.
        team: as the user named it.
        cluster: that a user named, and that has a profile; None for none.

    Raises:
        click.UsageError: the team is not there, or is on several clusters and none is named.
    """
    homes = []
    known = set()
    for site in platform.sites:
        names = {tenant.name for tenant in site.tenants}
        known |= names
        if team in names:
            homes.append(site.name)
    need_name("team", team, known)
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


def team_of_namespaces(platform: Platform, namespaces: Iterable[str]) -> str:
    """Return the name of the team to which all of some namespaces belong.

    Raises:
        click.UsageError: a job belongs to no team, or they belong to several.
    """
    spaces = {
        space.namespace: tenant.name
        for site in platform.sites
        for tenant in site.tenants
        for space in tenant.spaces
    }
    teams = {spaces.get(namespace, "") for namespace in namespaces}
    if "" in teams:
        raise click.UsageError("no team owns the namespace of a job; name the `--team`")
    if len(teams) > 1:
        listed = ", ".join(sorted(teams))
        raise click.UsageError(f"the jobs belong to several teams, name one `--team`: {listed}")
    return teams.pop()


def generate_for_cluster(profiles: Path, output: Path, cluster: str) -> Generation:
    """Return the tree of a cluster that is in use.

    Raises:
        NoInput: the folder holds no profile, or the cluster is retired.
        click.UsageError: the cluster has no profile.
    """
    need_profiles(profiles)
    checked = check(profiles, today())
    if checked.platform is None or has_errors(checked.diagnostics):
        return Generation(checked, checked.diagnostics)
    site = site_of(checked.platform, cluster)
    return render(checked, components_root(profiles, output), [site.name])


def generate_for_team(
    profiles: Path,
    output: Path,
    team: str | None,
    cluster: str | None,
    namespaces: Iterable[str] = (),
) -> tuple[Generation, str, str]:
    """Return the tree of a team's cluster, and the names of cluster and team.

    If there are errors, both names are empty. Without a name of the team it is the one to which all
    the namespaces belong.

    Raises:
        NoInput: the folder holds no profile.
        click.UsageError: as `cluster_of_team` and `team_of_namespaces`, or the cluster has no
            profile.
    """
    need_profiles(profiles, [cluster] if cluster else [])
    checked = check(profiles, today())
    if checked.platform is None or has_errors(checked.diagnostics):
        return Generation(checked, checked.diagnostics), "", ""
    owner = team_of_namespaces(checked.platform, namespaces) if team is None else team
    name = cluster_of_team(checked.platform, owner, cluster)
    return render(checked, components_root(profiles, output), [name]), name, owner
