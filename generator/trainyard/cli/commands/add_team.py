"""``trainyard add team``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from trainyard.cli.additions import added, team_lines
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import complete_cluster, output_option, profiles_option, today
from trainyard.cli.places import shown_folder
from trainyard.cli.team_table import COLUMNS, ROLES, rows_of
from trainyard.handed_in import OBJECTS, content_of, shown
from trainyard.model.unit import Unit
from trainyard.scaffold.several import Several
from trainyard.scaffold.team import TeamPlan
from trainyard.scaffold.team_request import NONE, TeamRequest
from trainyard.workflows.add import add_teams

_MOST_NODES = 5000
_MOST_GPUS = 64
_MOST_CORES = 4096
"""Maxima of a quota, as in the schema of teams."""
_NODES = 2
"""Nodes of a new team: the smallest MPI job takes as many."""


@click.command("team")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--from",
    "table",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Table of teams instead, in CSV; `-` is standard input. Its columns: "
    f"{', '.join(COLUMNS)}.",
)
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
@click.option(
    "--cores",
    type=click.IntRange(1, _MOST_CORES),
    metavar="N",
    help="Cores of one node without GPUs, instead of nodes.",
)
@click.option(
    "--borrow",
    type=click.IntRange(0, _MOST_NODES),
    default=0,
    metavar="N",
    help="How many more it may borrow.",
)
@click.option("--lend", default="", metavar="N", help="How many it lends: all, none or a number.")
@click.option(
    "--cohort",
    default="",
    metavar="NAME",
    help=f"Teams that it lends to and borrows from, or `{NONE}`. Default: the cluster's first.",
)
@click.option(
    "--runtime",
    multiple=True,
    metavar="NAME",
    help="Runtime that it lists; may be repeated. Default: those that run on the pool.",
)
@click.option(
    "--contact",
    default="",
    metavar="TEXT",
    help="Whom to call; `{name}` stands for the name of the team.",
)
@click.option(
    "--group",
    multiple=True,
    metavar="ROLE=NAME",
    help=f"Group of the identity provider with a role: {', '.join(ROLES)}. `{{name}}` stands for "
    "the name of the team.",
)
@profiles_option
@output_option
def team(
    *,
    names: tuple[str, ...],
    table: Path | None,
    cluster: str,
    pool: str,
    nodes: int | None,
    gpus: int | None,
    cores: int | None,
    borrow: int,
    lend: str,
    cohort: str,
    runtime: tuple[str, ...],
    contact: str,
    group: tuple[str, ...],
    profiles: Path,
    output: Path,
) -> int:
    """Write the profile of each team NAME, with a permanent partition or VLAN and addresses.

    Writes nothing if an addition would cause a new error, or if a profile names something that does
    not exist.
    """
    place = {"cluster": cluster, "pool": pool, "cohort": cohort, "borrow": borrow, "lend": lend}
    quota = {"nodes": nodes, "gpus": gpus, "cores": cores}
    people = {"runtime": runtime, "contact": contact, "group": group}
    requests = _requests(names, table, {**place, **quota, **people})
    need_different([request.name for request in requests])
    addition = added(profiles, output, lambda place: add_teams(place, requests, today()))
    return Exit.FINDINGS if addition.plan is None else _written(addition.plan, addition.files)


def _written(plan: Several[TeamPlan], files: Sequence[Path]) -> int:
    result("\n".join(map(team_lines, plan.each)))
    written = [shown_folder(file) for file in files if file.parent.name == "teams"]
    every = "both" if len(written) == 1 else "all"
    notify(f"Next: fill in {' and '.join(written)}, run `trainyard generate` and commit {every}.")
    return Exit.FINE


def _requests(
    names: tuple[str, ...], table: Path | None, options: Mapping[str, Any]
) -> list[TeamRequest]:
    if bool(names) is (table is not None):
        raise click.UsageError("give the names of teams, or `--from` with a table of them")
    if table is None:
        return [_request(name, options) for name in names]
    return rows_of(
        team,
        lambda name, stated: _request(name, _together(options, stated)),
        shown(table),
        content_of(table, OBJECTS)[1],
    )


def _together(options: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a row: what it states goes before what holds for all rows."""
    units = [unit.value for unit in Unit]
    own = dict.fromkeys(units) if any(unit in stated for unit in units) else {}
    return {**options, **own, **stated}


def _request(name: str, options: Mapping[str, Any]) -> TeamRequest:
    """Return what is asked for; ``{name}`` in a contact or a group stands for the team's name."""
    stated = [(unit, options[unit.value]) for unit in Unit if options[unit.value] is not None]
    if len(stated) > 1:
        both = " and ".join(f"`--{unit}`" for unit, _ in stated)
        raise click.UsageError(f"{both} exclude each other")
    unit, own = stated[0] if stated else (Unit.NODES, _NODES)
    groups = dict(_group(text.replace("{name}", name)) for text in options["group"])
    return TeamRequest(
        name,
        own,
        unit,
        since=today(),
        runtimes=options["runtime"],
        contact=options["contact"].replace("{name}", name),
        groups=groups,
        **{key: options[key] for key in ("cluster", "pool", "borrow", "lend", "cohort")},
    )


def _group(text: str) -> tuple[str, str]:
    role, _, group = text.partition("=")
    if role not in ROLES or not group:
        raise click.UsageError(f"`--group {text}` is not ROLE=NAME with one of {', '.join(ROLES)}")
    return role, group


def need_different(names: Sequence[str]) -> None:
    """Refuse names of teams of which one is there twice.

    Raises:
        UsageError: it is.
    """
    twice = sorted(name for name, number in Counter(names).items() if number > 1)
    if twice:
        raise click.UsageError(f"named twice: {', '.join(twice)}")
