"""``trainyard add``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import (
    complete_cluster,
    components_root,
    need_apart,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today,
)
from trainyard.cli.places import shown_folder
from trainyard.cli.progress import working
from trainyard.model.quantity import counted
from trainyard.output.hold import editing
from trainyard.scaffold.team import TeamPlan, TeamRequest
from trainyard.workflows.add import Addition, add_team
from trainyard.workflows.generate import Target

_MOST_NODES = 5000
_MOST_GPUS = 64
"""Maxima of a quota, as in the schema of teams."""
_NODES = 2
"""Nodes of a new team: the smallest MPI job takes as many."""


@click.group("add")
def command() -> None:
    """Add a profile; comments in the files that it touches are kept."""


@command.command("team")
@click.argument("name")
@click.option(
    "--cluster",
    default="",
    metavar="NAME",
    shell_complete=complete_cluster,
    help="Cluster, if several.",
)
@click.option("--pool", default="", metavar="NAME", help="Node pool of the cluster, if several.")
@click.option(
    "--nodes",
    type=click.IntRange(0, _MOST_NODES),
    metavar="N",
    show_default=str(_NODES),
    help="Nodes of its own; an MPI job takes two.",
)
@click.option(
    "--gpus",
    type=click.IntRange(1, _MOST_GPUS),
    metavar="N",
    help="GPUs of one node, instead of nodes.",
)
@profiles_option
@output_option
def team(
    *,
    name: str,
    cluster: str,
    pool: str,
    nodes: int | None,
    gpus: int | None,
    profiles: Path,
    output: Path,
) -> int:
    """Write the profile of team NAME, with a permanent partition or VLAN and addresses.

    Writes nothing when the profiles would then have errors that they do not have now.
    """
    if nodes is not None and gpus is not None:
        raise click.UsageError("`--nodes` and `--gpus` exclude each other")
    need_profiles(profiles)
    need_apart(profiles, output)
    own = _NODES if nodes is None else nodes
    request = TeamRequest(name, own, gpus or 0, cluster=cluster, pool=pool, since=today())
    # Only one run at a time may look up free numbers and take them.
    with working("checking") as line, editing(profiles, line.say):
        added = add_team(
            Target(profiles, output, components_root(profiles, output)), request, today()
        )
    if added.plan is None:
        found = findings.Findings(added.diagnostics, places(added.profiles, profiles, output))
        result(findings.text(found, colour=False))
        notify("Nothing was written.")
        return Exit.FINDINGS
    result(_report(added, added.plan))
    notify(
        f"Next: fill in {shown_folder(added.files[0])}, run `trainyard generate` and commit both."
    )
    return Exit.FINE


def _report(added: Addition, plan: TeamPlan) -> str:
    """Return the lines that say what was written."""
    lines = [f"wrote {shown_folder(path)}" for path in added.files]
    asked = plan.request
    own = counted(asked.gpus, "GPU") if asked.gpus else counted(asked.nodes, "node")
    lines.append(f"team {asked.name} has {own} of pool {plan.pool} on cluster {plan.cluster}")
    if plan.holding:
        lines.append(
            f"and keeps {plan.holding.display} and addresses {plan.holding.addresses} permanently"
        )
    if plan.ids:
        lines.append(f"and namespace {plan.ids.namespace} keeps the user ids {plan.ids.range}")
    return "\n".join(lines)
