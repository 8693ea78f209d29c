"""``trainyard resolve``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.additions import numbers
from trainyard.cli.commands import generate
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output
from trainyard.cli.options import (
    components_root,
    need_apart,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today,
)
from trainyard.cli.places import shown_folder
from trainyard.cli.progress import working
from trainyard.generation.generate import Target
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.scaffold.plan import ALLOCATIONS
from trainyard.tree.hold import editing, held
from trainyard.workflows.resolve import resolve


@click.command("resolve")
@profiles_option
@output_option
@click.pass_context
def command(context: click.Context, *, profiles: Path, output: Path) -> int:
    """Solve what a merge, rebase or cherry-pick left in conflict, as far as it can be generated.

    The ledger gets the lines of both sides. Teams that the change adds get new numbers, since the
    branch that it goes into keeps its own. Then the tree is generated. Other profiles are yours to
    solve: while one has a conflict, nothing is written.
    """
    need_profiles(profiles)
    need_apart(profiles, output)
    place = Target(profiles, output, components_root(profiles, output))
    with working("resolving") as line, editing(profiles, line.say), held(output, line.say):
        resolution = resolve(place, today())
    if resolution.diagnostics:
        shown = places(resolution.profiles, profiles, output)
        result(findings.text(findings.Findings(resolution.diagnostics, shown), colour=False))
        notify("Nothing was written.")
        return Exit.FINDINGS
    if resolution.given:
        given = map(_line, resolution.given)
        result("\n".join([f"wrote {shown_folder(profiles / ALLOCATIONS)}", *given]))
    code: int = context.invoke(
        generate.command,
        profiles=profiles,
        output=output,
        clusters=(),
        check=False,
        dry_run=False,
        formats=(Output("text"),),
        color="auto",
        day=today(),
    )
    if code == Exit.FINE:
        notify("Next: `git add --all`, then finish the merge.")
    return code


def _line(number: Holding | Ids) -> str:
    """Return the line about new numbers."""
    if isinstance(number, Ids):
        return next(numbers(None, number))
    return f"team {number.team} {next(numbers(number, None))}"
