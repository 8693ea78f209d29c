"""``trainyard report``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.change.diff import Wanted, diff
from trainyard.cli import findings
from trainyard.cli.console import notify, printable, result
from trainyard.cli.destination import need_free, save
from trainyard.cli.exits import Exit
from trainyard.cli.options import (
    cluster_option,
    components_root,
    need_apart,
    need_cluster,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today_option,
)
from trainyard.cli.progress import remembering, working
from trainyard.cli.report import content, with_change
from trainyard.diagnostics import Severity, has_errors
from trainyard.generation.generate import Target
from trainyard.model.quantity import counted
from trainyard.report.page import page
from trainyard.workflows.verify import examine


@click.command("report")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The page to write.",
)
@click.option(
    "--base",
    default="",
    metavar="REF",
    help="Branch, tag or commit: also show what the work tree changes of it, as `diff` does.",
)
@profiles_option
@output_option
@cluster_option
@today_option
def command(
    *, out: Path, base: str, profiles: Path, output: Path, clusters: tuple[str, ...], day: str
) -> int:
    """Write one HTML page that shows the platform: findings, capacity, teams, network, checks.

    Verifies the committed tree first, as `verify` does. Without kustomize or kubeconform the page
    shows that they did not look at the tree. The page loads nothing from elsewhere.
    """
    need_profiles(profiles, clusters)
    need_apart(profiles, output)
    need_free(out)
    place = Target(profiles, output, components_root(profiles, output))
    with working("verifying", "sync units") as line:
        change = diff(place, Wanted(base, "", False, clusters, day)) if base else None
        examined = examine(place, clusters, day, remembering(line))
    if not has_errors(examined.diagnostics):
        need_cluster(profiles)
    if examined.unverified:
        notify(f"warning: the tree is not verified: {printable(examined.unverified)}")
    every = tuple(dict.fromkeys((*examined.diagnostics, *(change.diagnostics if change else ()))))
    read = examined.generation.checked.profiles
    found = findings.Findings(every, places(read, profiles, output))
    shown = content(examined, found, clusters)
    written = page(with_change(shown, change) if change else shown)
    save(out, written)
    errors, warnings = (found.count(severity) for severity in (Severity.ERROR, Severity.WARNING))
    result(
        f"wrote {printable(str(out))}: {len(written) // 1000} kB, {counted(errors, 'error')}, "
        f"{counted(warnings, 'warning')}"
    )
    return Exit.FINDINGS if has_errors(every) else Exit.FINE
