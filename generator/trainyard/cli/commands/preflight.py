"""``trainyard preflight``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from trainyard.cli import findings
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.live import compared, context_option, from_option
from trainyard.cli.options import (
    color_option,
    complete_cluster,
    components_root,
    format_option,
    need_apart,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today_option,
)
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Target
from trainyard.model.live import AFTER, BEFORE, Live
from trainyard.model.quantity import counted
from trainyard.workflows.preflight import compare


@click.command("preflight")
@click.argument("cluster", shell_complete=complete_cluster)
@context_option
@from_option
@click.option(
    "--phase",
    type=click.Choice([BEFORE, AFTER]),
    default=BEFORE,
    show_default=True,
    help="Before the first sync of the tree, or after it.",
)
@click.option(
    "--read-on",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Day, YYYY-MM-DD, on which the facts were read: `preflight/old-facts` warns when they are "
    "older than a day. Default: they are of today.",
)
@profiles_option
@output_option
@format_option(*FORMS)
@color_option
@today_option
def command(
    *,
    cluster: str,
    context: str,
    files: tuple[Path, ...],
    phase: str,
    read_on: datetime | None,
    profiles: Path,
    output: Path,
    formats: tuple[Output, ...],
    color: str,
    day: str,
) -> int:
    """Compare CLUSTER, as it runs, with the tree that is committed for it.

    Each node with its pool, each object with the cluster's own CRDs and with what others made,
    versions, Kueue's configuration, storage and SR-IOV policies. After the sync also whether queues
    are active, Applications synced and admission policies bound.

    The cluster is only read. What can't be read is an error, `preflight/unchecked`.
    """
    need_profiles(profiles)
    need_apart(profiles, output)
    place = Target(profiles, output, components_root(profiles, output))
    when = phase, day, read_on.date().isoformat() if read_on else ""
    done = compared(place, cluster, (context, files), when, compare)
    where = places(done.generation.checked.profiles, profiles, output)
    found = findings.Findings(done.diagnostics, where)
    live = done.live
    besides = _checked(live) if live else {}
    deliver(
        formats,
        color,
        lambda colour: _text(found, live, colour=colour),
        forms_of("preflight", found, **besides),
    )
    return Exit.FINDINGS if has_errors(done.diagnostics) else Exit.FINE


def _checked(live: Live) -> dict[str, Any]:
    checked = {"cluster": live.site.name, "phase": live.phase, "objects": len(live.delivered)}
    return {"checked": checked}


def _text(found: findings.Findings, live: Live | None, *, colour: bool) -> str:
    lines = findings.text(found, colour=colour)
    if live is None:
        return lines
    read = counted(len(live.facts.objects), "object")
    return (
        f"{lines}\n{live.site.name}, {live.phase} the sync: {read} of the cluster compared with "
        f"{len(live.delivered)} of the tree"
    )
