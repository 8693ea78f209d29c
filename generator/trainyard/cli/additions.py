"""Add to the profiles for a command, and print what was written or why nothing was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from trainyard.cli import findings
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import components_root, need_apart, need_profiles, places
from trainyard.cli.places import shown_folder
from trainyard.cli.progress import working
from trainyard.generation.generate import Target
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.scaffold.team import TeamPlan
from trainyard.scaffold.template import placeholders
from trainyard.tree.hold import editing
from trainyard.workflows.add import Addition, Planned


def added(
    profiles: Path, output: Path, add: Callable[[Target], Addition[Planned]]
) -> Addition[Planned]:
    """Add to the profiles, and print the files that were written, or why none was."""
    need_profiles(profiles)
    need_apart(profiles, output)
    # Only one run at a time may look up free numbers and take them.
    with working("checking") as line, editing(profiles, line.say):
        addition = add(Target(profiles, output, components_root(profiles, output)))
    if addition.plan is None:
        found = findings.Findings(addition.diagnostics, places(addition.profiles, profiles, output))
        result(findings.text(found, colour=False))
        notify("Nothing was written.")
    elif addition.files:
        result("\n".join(f"wrote {shown_folder(path)}" for path in addition.files))
    return addition


def ended(addition: Addition[Planned], following: str) -> int:
    """Print the placeholders of a new profile and what follows; return the exit code."""
    if addition.plan is None:
        return Exit.FINDINGS
    marked = [
        f"  {shown_folder(path)}:{line}: {what}"
        for path, content in zip(addition.files, addition.plan.files.values(), strict=True)
        for line, what in placeholders(content)
    ]
    if marked:
        notify("\n".join(["Next, replace the placeholders, each marked with a comment:", *marked]))
    notify(f"Then {following}; run `trainyard generate` and commit both.")
    return Exit.FINE


def team_lines(plan: TeamPlan) -> str:
    """Return the lines that say what a new team has."""
    asked = plan.request
    own = asked.unit.counted(asked.own)
    first = f"team {asked.name} has {own} of pool {plan.pool} on cluster {plan.clusters[0]}"
    return "\n".join([first, *(f"and {line}" for line in numbers(plan.holding, plan.ids))])


def numbers(holding: Holding | None, ids: Ids | None) -> Iterator[str]:
    """Yield the permanent numbers of a team."""
    if holding:
        yield f"keeps {holding.display} and addresses {holding.addresses} permanently"
    if ids:
        yield f"namespace {ids.namespace} keeps the user ids {ids.range}"
