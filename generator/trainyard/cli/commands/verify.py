"""``trainyard verify``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import working
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
from trainyard.diagnostics import has_errors
from trainyard.workflows.verify import Count, verify


@click.command("verify")
@profiles_option
@output_option
@cluster_option
@format_option(*FORMS)
@color_option
@today_option
def command(
    *,
    profiles: Path,
    output: Path,
    clusters: tuple[str, ...],
    formats: tuple[Output, ...],
    color: str,
    day: str,
) -> int:
    """Check the committed tree offline, object by object.

    The tree must equal what the profiles generate. Each object must fit the release's strict
    schemas. Kustomize must build each sync unit, and kubeconform must accept the result. All must
    count the same number of objects.
    """
    need_profiles(profiles, clusters)
    need_apart(profiles, output)
    with working("verifying"):
        verification = verify(profiles, output, components_root(profiles, output), clusters, day)
    fine = not has_errors(verification.diagnostics)
    need_clusters(verification.generation, profiles, fine=fine)
    found = findings.Findings(
        verification.diagnostics, places(verification.generation.checked.profiles, profiles, output)
    )
    deliver(
        formats,
        color,
        lambda colour: _text(found, verification.counts, colour=colour),
        forms_of("verify", found, [asdict(count) for count in verification.counts]),
    )
    return Exit.FINE if fine else Exit.FINDINGS


def _text(found: findings.Findings, counts: tuple[Count, ...], *, colour: bool) -> str:
    lines = [findings.text(found, colour=colour)] if found.diagnostics else []
    return "\n".join([*lines, *map(_count, counts)])


def _count(count: Count) -> str:
    units = ", ".join(f"{unit} {objects}" for unit, objects in count.by_unit.items())
    return (
        f"{count.cluster}: {count.objects} objects, {count.valid} valid against schemas, "
        f"{count.conform} valid in kubeconform, {count.skipped} skipped; {count.units_built} of "
        f"{count.units} sync units build; {count.samples} samples, {count.artifacts} artifacts, "
        f"{count.others} other files\n  {units}"
    )
