"""``trainyard verify``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import notify
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.options import (
    cluster_option,
    color_option,
    components_root,
    format_option,
    need_apart,
    need_clusters,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today_option,
)
from trainyard.cli.progress import remembering, working
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Target
from trainyard.model.quantity import counted
from trainyard.workflows.committed import Count
from trainyard.workflows.verify import Scope, Verification, verify

_WIDTH = 78
"""Columns of the line with the units of a cluster."""


@click.command("verify")
@profiles_option
@output_option
@cluster_option
@click.option(
    "--changed-since",
    "since",
    default="",
    metavar="REF",
    help="Only the sync units that differ from those of this branch, tag or commit.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Believe no earlier run of this machine: make, build and check everything.",
)
@format_option(*FORMS)
@color_option
@today_option
def command(
    *,
    profiles: Path,
    output: Path,
    clusters: tuple[str, ...],
    since: str,
    every: bool,
    formats: tuple[Output, ...],
    color: str,
    day: str,
) -> int:
    """Check the committed tree offline, object by object.

    The tree must equal what the profiles generate. Each object must fit the release's strict
    schemas. Kustomize must build each sync unit, and kubeconform must accept the result. All must
    count the same number of objects. What this machine verified before with the same bytes,
    release and tools is not verified again.

    With `--changed-since` the whole tree is still compared with the profiles, and each object with
    its schema; kustomize and kubeconform see only what the commit does not have. A lockfile must
    have every number that the commit's lockfile has.
    """
    need_profiles(profiles, clusters)
    need_apart(profiles, output)
    place = Target(profiles, output, components_root(profiles, output))
    with working("verifying", "sync units") as line:
        verification = verify(place, day, Scope(clusters, since), remembering(line, nothing=every))
    fine = not has_errors(verification.diagnostics)
    need_clusters(verification.generation, profiles, fine=fine)
    found = findings.Findings(
        verification.diagnostics, places(verification.generation.checked.profiles, profiles, output)
    )
    deliver(
        formats,
        color,
        lambda colour: _text(found, verification, colour=colour),
        forms_of("verify", found, clusters=verification.counts),
    )
    _notify_proven(verification)
    return Exit.FINE if fine else Exit.FINDINGS


def _notify_proven(verification: Verification) -> None:
    """Print how much was not verified again, and why."""
    if verification.proven:
        folders = counted(verification.proven, "folder")
        notify(
            f"{folders} not verified again: this machine verified the same bytes with this release "
            "and these tools; `--all` verifies them too"
        )


def _text(found: findings.Findings, verification: Verification, *, colour: bool) -> str:
    lines = [findings.text(found, colour=colour)] if found.diagnostics else []
    for count in verification.counts:
        lines += summary(count, verification.base)
    return "\n".join(lines)


def summary(count: Count, base: str) -> list[str]:
    """Return the lines about a cluster: its numbers, its units, and what was left out.

    Args:
        count: the numbers.
        base: the commit whose units were left out; empty for none.
    """
    left_out = [f"  {_left_out(count, base)}"] if base else []
    return [_numbers(count), f"  {_units(count)}", *left_out]


def _numbers(count: Count) -> str:
    return (
        f"{count.cluster}: {count.objects} objects, {count.valid} valid against schemas, "
        f"{count.conform} valid in kubeconform, {count.skipped} skipped; {count.units_built} of "
        f"{count.units} sync units build; {count.samples} samples, {count.artifacts} artifacts, "
        f"{count.others} other files"
    )


def _units(count: Count) -> str:
    """Return the objects of each unit; those of many teams together, on one line."""
    teams = {unit: number for unit, number in count.by_unit.items() if unit.startswith("teams/")}
    line = _listed(count.by_unit)
    if not teams or len(line) <= _WIDTH:
        return line or "no sync unit"
    alone = {unit: number for unit, number in count.by_unit.items() if unit not in teams}
    return ", ".join(filter(None, [_listed(alone), _together([*teams.values()])]))


def _listed(units: Mapping[str, int]) -> str:
    return ", ".join(f"{unit} {objects}" for unit, objects in units.items())


def _together(objects: list[int]) -> str:
    """Return the objects of several teams, and the least and most of one of them."""
    least, most = min(objects), max(objects)
    each = f"{least}" if least == most else f"{least} to {most}"
    return f"{counted(len(objects), 'team')} {sum(objects)} ({each} each)"


def _left_out(count: Count, base: str) -> str:
    """Return the line that says what was not built, since a commit has it already."""
    units = f"{len(count.left_out)} of {counted(len(count.left_out) + count.units, 'sync unit')}"
    return f"left out: {units} and {counted(count.files_left_out, 'file')}, as in commit {base}"
