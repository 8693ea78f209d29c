"""``trainyard drift``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import printable
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.impact.drifted import drift_document, drift_lines
from trainyard.cli.impact.text import paint
from trainyard.cli.live import context_option, facts_of, from_option, site_of
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
from trainyard.generation.generate import Run, Target
from trainyard.model.facts import Facts
from trainyard.model.platform import Platform, Site
from trainyard.proofs import of_this_machine
from trainyard.workflows.drift import Drifted, drift


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

    def read(platform: Platform) -> tuple[Site, Facts]:
        site = site_of(platform, cluster)
        return site, facts_of(site, context, files)

    done = drift(place, day, Run(proofs=of_this_machine()), read)
    where = places(done.generation.checked.profiles, profiles, output)
    found = findings.Findings(done.diagnostics, where)
    deliver(
        formats,
        color,
        lambda colour: _text(found, done, fields=fields, colour=colour),
        forms_of("drift", found, **({"drift": drift_document(done.drift)} if done.drift else {})),
    )
    differs = done.drift is not None and bool(done.drift.parts)
    return Exit.FINDINGS if differs or has_errors(done.diagnostics) else Exit.FINE


def _text(found: findings.Findings, done: Drifted, *, fields: bool, colour: bool) -> str:
    """Return the worst first, then what differs of each team; then what was not compared."""
    parts = []
    if done.drift is not None:
        lines = map(printable, drift_lines(done.drift, fields=fields))
        parts.append("\n".join(paint(line, colour=colour) for line in lines))
    if found.diagnostics or done.drift is None:
        parts.append(findings.text(found, colour=colour))
    return "\n\n".join(parts)
