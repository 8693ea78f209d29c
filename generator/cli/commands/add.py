"""``trainyard add``."""

from __future__ import annotations

from pathlib import Path

import click

from generator.cli import findings
from generator.cli.console import result, say
from generator.cli.exits import Exit
from generator.cli.options import complete_cluster, need_profiles, places, profiles_option
from generator.cli.places import shown_folder
from generator.diagnostics import Diagnostic
from generator.edit.team import Added, TeamRequest, add_team
from generator.pipeline import Checked, check
from generator.tree.hold import editing


@click.group("add", short_help="Add a team.")
def command() -> None:
    """Add a profile; comments in the files that it touches are kept."""


@command.command("team", short_help="Add a team.")
@click.argument("name")
@click.option("--cluster", default="", metavar="NAME", shell_complete=complete_cluster, help="Cluster, if several.")
@click.option("--pool", default="", metavar="NAME", help="Node pool of the cluster, if several.")
@click.option(
    "--nodes", type=click.IntRange(min=0), default=2, show_default=True, help="Nodes of its own; an MPI job takes two."
)
@profiles_option
def team(name: str, cluster: str, pool: str, nodes: int, profiles: Path) -> int:
    """Write the profile of team NAME, and give it a partition or VLAN and addresses that it keeps for ever."""
    need_profiles(profiles)
    # What is free is looked up and taken by one run at a time.
    with editing(profiles, say):
        return _add(profiles, TeamRequest(name=name, nodes=nodes, cluster=cluster, pool=pool))


def _add(profiles: Path, request: TeamRequest) -> int:
    checked = check(profiles)
    if checked.platform is None:
        return _refuse(checked, checked.diagnostics, profiles)
    added, problems = add_team(profiles, checked.platform, request)
    if added is None:
        return _refuse(checked, problems, profiles)
    result(_told(added, request.name, request.nodes))
    say(f"Next: fill in {shown_folder(added.files[0])}, run `trainyard generate` and commit both.")
    return Exit.FINE


def _refuse(checked: Checked, problems: tuple[Diagnostic, ...], profiles: Path) -> int:
    result(findings.text(findings.Findings(problems, places(checked.profiles, profiles)), colour=False))
    return Exit.FINDINGS


def _told(added: Added, name: str, nodes: int) -> str:
    lines = [f"wrote {shown_folder(path)}" for path in added.files]
    lines.append(f"team {name} has {nodes} nodes of pool {added.pool} on cluster {added.cluster}")
    if added.allocation:
        lines.append(f"and keeps {added.segment} and addresses {added.allocation.addresses} for ever")
    return "\n".join(lines)
