"""``trainyard diff``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.change.diff import Wanted, diff
from trainyard.cli import findings
from trainyard.cli.dumps import jobs_option, read_dumps
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.impact.document import impact_document
from trainyard.cli.impact.markdown import markdown
from trainyard.cli.impact.text import text
from trainyard.cli.options import (
    cluster_option,
    color_option,
    components_root,
    day_option,
    format_option,
    need_apart,
    need_name,
    need_profiles,
    output_option,
    places,
    profiles_option,
)
from trainyard.cli.progress import working
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Target
from trainyard.proofs import of_this_machine


@click.command("diff")
@click.option(
    "--base",
    default="HEAD",
    show_default=True,
    metavar="REF",
    help="Branch, tag or commit that the change is merged into, e.g. origin/main.",
)
@click.option(
    "--head",
    default="",
    metavar="REF",
    help="Branch, tag or commit with the change; the files in the work tree by default.",
)
@click.option(
    "--merge-base",
    "merge",
    is_flag=True,
    help="Show what a merge of head into base does.",
)
@jobs_option
@click.option("--fields", is_flag=True, help="Show each field of each object before and after.")
@profiles_option
@output_option
@cluster_option
@day_option("the date of the base", str)
@format_option(*FORMS)
@color_option
def command(
    *,
    base: str,
    head: str,
    merge: bool,
    jobs: tuple[tuple[str, Path], ...],
    fields: bool,
    profiles: Path,
    output: Path,
    clusters: tuple[str, ...],
    day: str,
    formats: tuple[Output, ...],
    color: str,
) -> int:
    """Show what a change does to teams, networks, jobs and nodes before it is merged.

    Compares what the profiles make with the committed tree of the base, and checks the change by
    every rule. The tree of `--head` must be what its own profiles make. Needs Git, and no cluster.
    Nothing is checked out. Programs that the repository configures (hooks, filters) are never run.
    """
    need_profiles(profiles)
    need_apart(profiles, output)
    wanted = Wanted(base, head, merge, clusters, day, read_dumps(jobs, clusters))
    place = Target(profiles, output, components_root(profiles, output))
    with working("comparing"):
        change = diff(place, wanted, of_this_machine())
    for name in (*clusters, *wanted.dumps):
        need_name("cluster", name, change.clusters)
    found = findings.Findings(
        change.diagnostics, places(change.generation.checked.profiles, profiles, output)
    )
    forms = forms_of("diff", found, change=impact_document(change))
    deliver(
        formats,
        color,
        lambda colour: text(change, found, fields=fields, colour=colour),
        {**forms, "markdown": lambda: markdown(change, found, fields=fields)},
    )
    return Exit.FINDINGS if has_errors(change.diagnostics) else Exit.FINE
