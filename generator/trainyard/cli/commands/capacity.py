"""``trainyard capacity``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from trainyard.capacity.cost import Cost, cost
from trainyard.capacity.figures import Capacity
from trainyard.capacity.measure import measure
from trainyard.cli import document as documents
from trainyard.cli import findings
from trainyard.cli.capacity.document import document
from trainyard.cli.capacity.page import pages
from trainyard.cli.capacity.sheet import HEAD, rows
from trainyard.cli.cost.document import document as cost_document
from trainyard.cli.cost.page import pages as cost_pages
from trainyard.cli.cost.sheet import HEAD as COST_HEAD
from trainyard.cli.cost.sheet import rows as cost_rows
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
from trainyard.cli.tables.markdown import markdown
from trainyard.cli.tables.sheet import sheet
from trainyard.cli.tables.text import text
from trainyard.generation.generate import check
from trainyard.model.platform import Platform, Site


@click.command("capacity")
@profiles_option
@cluster_option
@click.option(
    "--cost",
    "wants_cost",
    is_flag=True,
    help="Show instead what each pool with a price costs in a month, by team and cost center.",
)
@format_option("markdown", "json", "csv")
def command(
    profiles: Path, clusters: tuple[str, ...], wants_cost: bool, formats: tuple[Output, ...]
) -> int:
    """Show the nodes of each pool, the teams' quota and lending, and each team's largest job.

    Counts what the profiles state, not what jobs use. Teams may own more than a pool promises:
    `validate` reports it, and this command shows by how much.

    With `--cost`, a team pays for what it owns, and not for what it borrows. A month has 730 hours.
    """
    need_profiles(profiles, clusters)
    checked = check(profiles)
    if checked.platform is None:
        found = findings.Findings(checked.diagnostics, places(checked.profiles, profiles))
        others = _no_figures(found, wants_cost=wants_cost)
        deliver(formats, "never", lambda _: findings.text(found, colour=False), others)
        return Exit.FINDINGS
    need_cluster(profiles)
    measured = _measured(checked.platform, clusters)
    if wants_cost:
        costs = [cost(site, capacity) for site, capacity in measured]
        deliver(formats, "never", lambda _: text(cost_pages(costs)), _forms_of_cost(costs))
    else:
        capacities = [capacity for _, capacity in measured]
        deliver(formats, "never", lambda _: text(pages(capacities)), _forms(capacities))
    return Exit.FINE


def _measured(platform: Platform, clusters: tuple[str, ...]) -> list[tuple[Site, Capacity]]:
    """Return the clusters that are wanted, all without a name, each with its capacity."""
    sites = (site for site in platform.sites if not clusters or site.name in clusters)
    return [(site, measure(site, platform.allocations)) for site in sites]


def _forms(capacities: list[Capacity]) -> dict[str, Callable[[], str]]:
    return {
        "markdown": lambda: markdown("Capacity", pages(capacities)),
        "json": lambda: documents.envelope("capacity", {"clusters": document(capacities)}),
        "csv": lambda: sheet(HEAD, rows(capacities)),
    }


def _forms_of_cost(costs: list[Cost]) -> dict[str, Callable[[], str]]:
    return {
        "markdown": lambda: markdown("Cost", cost_pages(costs)),
        "json": lambda: documents.envelope("cost", {"clusters": cost_document(costs)}),
        "csv": lambda: sheet(COST_HEAD, cost_rows(costs)),
    }


def _no_figures(found: findings.Findings, *, wants_cost: bool) -> Mapping[str, Callable[[], str]]:
    """Return the forms of findings that leave nothing to count."""
    empty = sheet(COST_HEAD if wants_cost else HEAD, [])
    return {**forms_of("capacity", found), "csv": lambda: empty}
