"""``trainyard drift``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.change.drift.compare import Drift, drift_of
from trainyard.cli import findings
from trainyard.cli.console import printable
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.impact.drifted import drift_document, drift_lines
from trainyard.cli.impact.text import paint
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
from trainyard.model.live import AFTER
from trainyard.workflows.drift import not_compared


@click.command("drift")
@click.argument("cluster", shell_complete=complete_cluster)
@context_option
@from_option
@click.option("--fields", is_flag=True, help="Show each field that differs, of each object.")
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
    fields: bool,
    profiles: Path,
    output: Path,
    formats: tuple[Output, ...],
    color: str,
    day: str,
) -> int:
    """Show what somebody changed by hand on CLUSTER, beside its committed tree.

    In the words of `diff`, team by team: queues that are held, quota, rights, network paths and
    objects that are missing or were added. Each object has since when and by whom, where the API
    server notes it. What the API server fills in, and what the tree does not state, does not count.

    The cluster is only read. A difference is exit code 1. What can't be read is an error,
    `preflight/unchecked`.
    """
    need_profiles(profiles)
    need_apart(profiles, output)
    place = Target(profiles, output, components_root(profiles, output))
    done = compared(place, cluster, (context, files), (AFTER, day), not_compared)
    drift = drift_of(done.live) if done.live else None
    where = places(done.generation.checked.profiles, profiles, output)
    found = findings.Findings(done.diagnostics, where)
    deliver(
        formats,
        color,
        lambda colour: _text(found, drift, fields=fields, colour=colour),
        forms_of("drift", found, **({"drift": drift_document(drift)} if drift else {})),
    )
    differs = drift is not None and bool(drift.parts)
    return Exit.FINDINGS if differs or has_errors(done.diagnostics) else Exit.FINE


def _text(found: findings.Findings, drift: Drift | None, *, fields: bool, colour: bool) -> str:
    """Return the worst first, then what differs of each team; then what was not compared."""
    parts = []
    if drift is not None:
        lines = map(printable, drift_lines(drift, fields=fields))
        parts.append("\n".join(paint(line, colour=colour) for line in lines))
    if found.diagnostics or drift is None:
        parts.append(findings.text(found, colour=colour))
    return "\n\n".join(parts)
