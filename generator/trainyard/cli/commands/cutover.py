"""``trainyard cutover``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from trainyard.change.cutover import Move, Progress, cutover
from trainyard.cli import findings
from trainyard.cli.console import printable
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import forms_of
from trainyard.cli.impact.markdown import in_parts
from trainyard.cli.impact.plan import numbered
from trainyard.cli.impact.sections import Section
from trainyard.cli.impact.text import paint, section_lines
from trainyard.cli.options import (
    color_option,
    complete_cluster,
    format_option,
    need_name,
    need_profiles,
    places,
    profiles_option,
)
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import check
from trainyard.model.named import by_name
from trainyard.workflows.cutover import old_queues


@click.command("cutover")
@click.argument("cluster", shell_complete=complete_cluster)
@profiles_option
@format_option("json", "markdown")
@color_option
def command(cluster: str, profiles: Path, formats: tuple[Output, ...], color: str) -> int:
    """Show the steps by which CLUSTER goes from what ran there to its tree, one team at a time.

    Each step has who does it, how long it may take, its last day and its way back. The profiles
    show what is done, and which step is next; `adoption/CLUSTER.json` of an import names the old
    queues. Without `adopt` and with open queues all steps are done, or the cut-over has not begun.
    Reads the profiles alone, and no cluster.
    """
    need_profiles(profiles)
    checked = check(profiles)
    found = findings.Findings(checked.diagnostics, places(checked.profiles, profiles))
    sites = by_name(checked.platform.sites) if checked.platform else {}
    if cluster not in sites and has_errors(checked.diagnostics):
        forms = forms_of("cutover", found)
        deliver(formats, color, lambda colour: findings.text(found, colour=colour), forms)
        return Exit.FINDINGS
    need_name("cluster", cluster, sites)
    moves = cutover(sites[cluster], old_queues(profiles, cluster))
    lines = *numbered(move.step for move in moves), *_ended(moves)
    plan = Section(_title(cluster, moves), lines)
    forms = {
        **forms_of("cutover", found, cutover={"cluster": cluster, "steps": moves}),
        "markdown": lambda: "\n".join(in_parts([plan])),
    }
    deliver(formats, color, lambda colour: _text(plan, colour=colour), forms)
    return Exit.FINE


def _title(cluster: str, moves: tuple[Move, ...]) -> str:
    done = sum(move.progress is Progress.DONE for move in moves)
    return f"Cut-over of {cluster}: by its profiles {done} of {len(moves)} steps are done"


def _ended(moves: tuple[Move, ...]) -> Iterator[str]:
    if all(move.progress is Progress.DONE for move in moves):
        yield "~ no profile spares anything: the cut-over has ended, or has not begun"


def _text(plan: Section, *, colour: bool) -> str:
    return "\n".join(paint(line, colour=colour) for line in map(printable, section_lines(plan)))
