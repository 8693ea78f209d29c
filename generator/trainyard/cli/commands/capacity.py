"""``trainyard capacity``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from trainyard.capacity.figures import Capacity
from trainyard.capacity.measure import measure
from trainyard.cli import document as documents
from trainyard.cli import findings
from trainyard.cli.capacity.document import document
from trainyard.cli.capacity.markdown import markdown
from trainyard.cli.capacity.sheet import sheet
from trainyard.cli.capacity.text import text
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import forms_of
from trainyard.cli.options import (
    cluster_option,
    format_option,
    need_cluster,
    need_profiles,
    places,
    profiles_option,
)
from trainyard.workflows.generate import check


@click.command("capacity")
@profiles_option
@cluster_option
@format_option("markdown", "json", "csv")
def command(profiles: Path, clusters: tuple[str, ...], formats: tuple[Output, ...]) -> int:
    """Show the nodes of each pool, the teams' quota and lending, and each team's largest job.

    Counts what the profiles state, not what jobs use. Teams may own more than a pool promises:
    `validate` reports it, and this command shows by how much.
    """
    need_profiles(profiles, clusters)
    checked = check(profiles)
    if checked.platform is None:
        found = findings.Findings(checked.diagnostics, places(checked.profiles, profiles))
        deliver(formats, "never", lambda _: findings.text(found, colour=False), _no_figures(found))
        return Exit.FINDINGS
    need_cluster(profiles)
    wanted = (site for site in checked.platform.sites if not clusters or site.name in clusters)
    ledger = checked.platform.allocations
    capacities = [measure(site, ledger) for site in wanted]
    deliver(formats, "never", lambda _: text(capacities), _forms(capacities))
    return Exit.FINE


def _forms(capacities: list[Capacity]) -> dict[str, Callable[[], str]]:
    return {
        "markdown": lambda: markdown(capacities),
        "json": lambda: documents.envelope("capacity", clusters=document(capacities)),
        "csv": lambda: sheet(capacities),
    }


def _no_figures(found: findings.Findings) -> Mapping[str, Callable[[], str]]:
    """Return the forms of findings that leave nothing to count."""
    return {**forms_of("capacity", found), "csv": lambda: sheet([])}
