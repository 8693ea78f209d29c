"""``trainyard upgrade``."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path

import click

from trainyard.change.diff import Wanted
from trainyard.cli import findings
from trainyard.cli.console import notify
from trainyard.cli.dumps import jobs_option, read_dumps
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.impact.document import impact_document
from trainyard.cli.impact.markdown import markdown
from trainyard.cli.impact.text import text
from trainyard.cli.options import (
    color_option,
    complete_cluster,
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
from trainyard.cli.places import shown_folder
from trainyard.cli.progress import working
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Target
from trainyard.proofs import of_this_machine
from trainyard.tree.hold import editing
from trainyard.workflows.upgrade import Goal, Upgrade, plan_upgrade, write_upgrade


def _day(_: click.Context, __: click.Parameter, value: datetime | None) -> str:
    return value.date().isoformat() if value else ""


@click.command("upgrade")
@click.argument("cluster", shell_complete=complete_cluster)
@click.option("--to", "release", required=True, metavar="RELEASE", help="Release that it gets.")
@click.option("--write", is_flag=True, help="Write the edits of the profiles.")
@click.option(
    "--keep-until",
    type=click.DateTime(["%Y-%m-%d"]),
    callback=_day,
    metavar="DATE",
    help="Keep the former version of each runtime, deprecated until this day, for the teams that "
    "are on other clusters only.",
)
@jobs_option
@click.option("--fields", is_flag=True, help="Show each field of each object before and after.")
@profiles_option
@output_option
@day_option("the date of the base", str)
@format_option(*FORMS)
@color_option
def command(
    *,
    cluster: str,
    release: str,
    write: bool,
    keep_until: str,
    jobs: tuple[tuple[str, Path], ...],
    fields: bool,
    profiles: Path,
    output: Path,
    day: str,
    formats: tuple[Output, ...],
    color: str,
) -> int:
    """Show what it takes to upgrade CLUSTER to another release, and edit its profiles.

    Shows the steps in their order, each with its way back; what must go in one window, and why;
    then all that `trainyard diff` shows of the change. The edits are: `release`, without
    `installed`; a new `version` of each runtime that the release changes; `uids` that nothing reads
    any more. Needs Git, and no cluster.
    """
    need_profiles(profiles)
    need_apart(profiles, output)
    place = Target(profiles, output, components_root(profiles, output))
    wanted = Wanted("HEAD", "", False, (), day, read_dumps(jobs, ()))
    with working("comparing") as line, editing(profiles, line.say) if write else nullcontext():
        planned = _planned(place, wanted, Goal(cluster, release, keep_until))
        for name in wanted.dumps:
            need_name("cluster", name, planned.change.clusters)
        if write:
            write_upgrade(profiles, planned)
    change = planned.change
    read = change.generation.checked.profiles
    found = findings.Findings(change.diagnostics, places(read, profiles, output))
    result = {"written": write, "edits": sorted(planned.edits)}
    forms = forms_of("upgrade", found, upgrade=result, change=impact_document(change))
    forms = {**forms, "markdown": partial(markdown, change, found, fields=fields)}
    deliver(formats, color, lambda colour: text(change, found, fields=fields, colour=colour), forms)
    _notify_edits(planned, profiles, write=write)
    return Exit.FINDINGS if has_errors(change.diagnostics) else Exit.FINE


def _planned(place: Target, wanted: Wanted, goal: Goal) -> Upgrade:
    """Return what the upgrade does.

    Raises:
        click.UsageError: there is no such cluster or release, or the day is past.
    """
    try:
        return plan_upgrade(place, wanted, goal, of_this_machine())
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem


def _notify_edits(planned: Upgrade, profiles: Path, *, write: bool) -> None:
    files = ", ".join(shown_folder(profiles / path) for path in sorted(planned.edits))
    if not files:
        notify("The profiles have all edits already. Next: `trainyard generate`.")
    elif write:
        notify(f"wrote {files}. Next: `trainyard generate`.")
    else:
        notify(f"Nothing was written. `--write` edits {files}.")
