"""``trainyard add``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from trainyard.cli.additions import added, ended, numbers
from trainyard.cli.commands.add_team import need_different, team
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import (
    PRESETS,
    ReleaseChoice,
    complete_cluster,
    complete_team,
    folders_in,
    output_option,
    profiles_option,
    today,
)
from trainyard.cli.pools import PoolType
from trainyard.generation.generate import Target
from trainyard.model.launcher import LAUNCHERS
from trainyard.scaffold.allocation import AllocationRequest
from trainyard.scaffold.plan import Plan
from trainyard.scaffold.several import Numbered
from trainyard.workflows.add import Addition, add_allocations
from trainyard.workflows.add_profile import (
    ClusterRequest,
    PoolRequest,
    RuntimeRequest,
    add_cluster,
    add_hardware,
    add_measured,
    add_runtime,
)


@click.group("add")
def command() -> None:
    """Add a profile; comments in the files that it touches are kept.

    Writes nothing if the addition would cause a new error, or if a profile names something that
    does not exist.
    """


command.add_command(team)


@command.command("allocation")
@click.argument("teams", nargs=-1, metavar="[TEAM]...", shell_complete=complete_team)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="All teams with quota on the fabric that have no numbers there.",
)
@click.option(
    "--cluster",
    required=True,
    metavar="NAME",
    shell_complete=complete_cluster,
    help="Cluster of the fabric.",
)
@click.option("--fabric", default="", metavar="NAME", help="Fabric of the cluster, if several.")
@profiles_option
@output_option
def allocation(
    *,
    teams: tuple[str, ...],
    every: bool,
    cluster: str,
    fabric: str,
    profiles: Path,
    output: Path,
) -> int:
    """Give each TEAM a permanent partition or VLAN and addresses on a further fabric.

    Run it when the team has, or is about to get, quota on another cluster. Writes nothing if an
    addition would cause a new error, or if a profile names something that does not exist.
    """
    if bool(teams) is every:
        raise click.UsageError("give the names of teams, or `--all`")
    need_different(teams)
    request = AllocationRequest("", cluster, fabric, today())
    addition = added(
        profiles, output, lambda place: add_allocations(place, request, teams, today())
    )
    if addition.plan is None:
        return Exit.FINDINGS
    if not addition.plan.each:
        result(f"every team with quota on the fabric of {cluster} has its numbers")
        return Exit.FINE
    result("\n".join(chain.from_iterable(map(_numbers, addition.plan.each))))
    notify(f"Next: give who has none quota on {cluster}, run `trainyard generate` and commit both.")
    return Exit.FINE


def _numbers(plan: Numbered) -> Iterator[str]:
    return (f"team {plan.team}: {line}" for line in numbers(plan.holding, plan.ids))


@command.command("hardware")
@click.argument("name")
@click.option(
    "--preset",
    type=click.Choice(PRESETS),
    metavar="PRESET",
    help=f"Type of the nodes: {', '.join(PRESETS)}.",
)
@click.option(
    "--from",
    "files",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Nodes instead, as `kubectl get node NODE -o json` prints them, and in further files or "
    "the same their SriovNetworkNodeStates; `-` is standard input.",
)
@profiles_option
@output_option
def hardware(
    *, name: str, preset: str | None, files: tuple[Path, ...], profiles: Path, output: Path
) -> int:
    """Write the hardware profile NAME, which extends a preset or has what nodes say of themselves.

    Writes nothing if the addition would cause a new error. Other profiles may already name it.
    """
    if (preset is None) is (not files):
        raise click.UsageError("give `--preset`, or `--from` with files of nodes")

    def planned(place: Target) -> Addition[Plan]:
        if preset is None:
            return add_measured(place, name, files, today())
        return add_hardware(place, name, preset, today())

    addition = added(profiles, output, planned)
    return ended(addition, "add it to `pools` of a cluster, or run `trainyard add cluster`")


@command.command("runtime")
@click.argument("name")
@click.option(
    "--launcher",
    type=click.Choice(sorted(LAUNCHERS)),
    default="openmpi",
    show_default=True,
    help="Program that starts the ranks.",
)
@click.option("--image", required=True, metavar="IMAGE@DIGEST", help="Image that the ranks run in.")
@click.option(
    "--hardware",
    multiple=True,
    metavar="NAME",
    help="Hardware that it runs on, if several; may be given several times.",
)
@profiles_option
@output_option
def runtime(
    *,
    name: str,
    launcher: str,
    image: str,
    hardware: tuple[str, ...],
    profiles: Path,
    output: Path,
) -> int:
    """Write the profile of runtime NAME, version 1.

    Writes nothing if the addition would cause a new error. Other profiles may already name it.
    """
    request = RuntimeRequest(name, launcher, image, hardware)
    addition = added(profiles, output, lambda place: add_runtime(place, request, today()))
    return ended(addition, "list it in `runtimes` of the teams that use it")


@command.command("cluster")
@click.argument("name")
@click.option(
    "--release",
    required=True,
    metavar="RELEASE",
    help="Set of operator versions that the cluster runs; may be one of this repository.",
)
@click.option(
    "--pool",
    "pools",
    type=PoolType(),
    multiple=True,
    required=True,
    metavar="NAME=HARDWARE:NODES",
    help="Node pool; may be given several times. One of three or more nodes is kept in reserve.",
)
@profiles_option
@output_option
def cluster(
    *, name: str, release: str, pools: tuple[PoolRequest, ...], profiles: Path, output: Path
) -> int:
    """Write the profile of cluster NAME.

    Writes nothing if the addition would cause a new error. Other profiles may already name it.
    """
    if release not in folders_in(profiles / "releases"):
        release = ReleaseChoice().convert(release, None, click.get_current_context())
    request = ClusterRequest(name, release, pools)
    addition = added(profiles, output, lambda place: add_cluster(place, request, today()))
    return ended(
        addition, f"give teams quota on {name}, and numbers with `trainyard add allocation`"
    )
