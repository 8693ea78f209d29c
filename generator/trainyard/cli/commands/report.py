"""``trainyard report``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard import __version__
from trainyard.capacity.measure import measure
from trainyard.cli import findings
from trainyard.cli.console import notify, printable, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import (
    cluster_option,
    components_root,
    need_apart,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today_option,
)
from trainyard.cli.places import Place
from trainyard.cli.progress import working
from trainyard.diagnostics import Diagnostic, Note, TreeError, has_errors
from trainyard.model.platform import Site
from trainyard.model.quantity import counted
from trainyard.report.content import Cluster, Content, Finding, Waiver
from trainyard.report.page import page
from trainyard.workflows.generate import Target
from trainyard.workflows.objects import component_manifests
from trainyard.workflows.report import Examined, examine
from trainyard.yaml_io.source import Source

_NOTES = 50  # of one finding


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
@profiles_option
@output_option
@cluster_option
@today_option
def command(*, out: Path, profiles: Path, output: Path, clusters: tuple[str, ...], day: str) -> int:
    """Write one HTML page that shows the platform: findings, capacity, teams, network, checks.

    Verifies the committed tree first, as `verify` does. Without kustomize or kubeconform the page
    shows that they did not look at the tree. The page loads nothing from elsewhere.
    """
    need_profiles(profiles, clusters)
    need_apart(profiles, output)
    place = Target(profiles, output, components_root(profiles, output))
    with working("verifying", "sync units") as line:
        examined = examine(place, clusters, day, line.step)
    if examined.unverified:
        notify(f"warning: the tree is not verified: {printable(examined.unverified)}")
    content = _content(examined, profiles, output, clusters)
    written = page(content)
    try:
        out.write_bytes(written)
    except OSError as problem:
        raise TreeError(f"{out} can't be written: {problem.strerror}") from problem
    errors, warnings = content.count("error"), content.count("warning")
    result(
        f"wrote {printable(str(out))}: {len(written) // 1000} kB, {counted(errors, 'error')}, "
        f"{counted(warnings, 'warning')}"
    )
    return Exit.FINDINGS if has_errors(examined.diagnostics) else Exit.FINE


def _content(
    examined: Examined, profiles: Path, output: Path, clusters: tuple[str, ...]
) -> Content:
    checked = examined.generation.checked
    platform = checked.platform
    found = findings.Findings(examined.diagnostics, places(checked.profiles, profiles, output))
    sites = platform.sites if platform else ()
    return Content(
        version=__version__,
        title=platform.settings.repository if platform else "profiles that can't be read",
        profiles=len(found.places.profiles),
        findings=tuple(_finding(group, found) for group in found.grouped()),
        waivers=_waivers(checked.profiles.waivers) if platform else (),
        clusters=tuple(
            _cluster(site, examined) for site in sites if not clusters or site.name in clusters
        ),
        unverified=examined.unverified,
    )


def _waivers(source: Source) -> tuple[Waiver, ...]:
    """Return the waivers of a profile that has the right shape."""
    return tuple(Waiver(**each) for each in (source.value or {}).get("waivers", ()))


def _cluster(site: Site, examined: Examined) -> Cluster:
    generated = examined.generation.manifests.get(site.name, ())
    return Cluster(
        site=site,
        capacity=measure(site),
        manifests=(*generated, *component_manifests(site)),
        count=examined.counts.get(site.name),
    )


def _finding(group: list[tuple[Diagnostic, Place]], found: findings.Findings) -> Finding:
    first = group[0][0]
    return Finding(
        rule=first.rule,
        severity=first.severity,
        message=printable(first.message if len(group) == 1 else first.cause),
        places=tuple(printable(str(place)) for _, place in group),
        consequence=first.consequence,
        hint=printable(first.hint),
        notes=tuple(_note(each, found) for each in first.notes[:_NOTES]),
    )


def _note(note: Note, found: findings.Findings) -> str:
    place = f" ({found.places.find(note.at)})" if note.at else ""
    return printable(f"{note.message}{place}")
