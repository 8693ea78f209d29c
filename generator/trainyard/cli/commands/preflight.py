"""``trainyard preflight``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.live import context_option, facts_of, from_option, site_of
from trainyard.cli.options import (
    color_option,
    complete_cluster,
    components_root,
    format_option,
    need_apart,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today_option,
)
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Run, Target
from trainyard.model.facts import Facts
from trainyard.model.live import AFTER, BEFORE
from trainyard.model.platform import Platform, Site
from trainyard.model.quantity import counted
from trainyard.proofs import of_this_machine
from trainyard.workflows.preflight import Preflight, preflight


@click.command("preflight")
@click.argument("cluster", shell_complete=complete_cluster)
@context_option
@from_option
@click.option(
    "--phase",
    type=click.Choice([BEFORE, AFTER]),
    default=BEFORE,
    show_default=True,
    help="Before the first sync of the tree, or after it.",
)
@profiles_option
@output_option
@format_option(*FORMS)
@color_option
@today_option
def command(
    *,
    cluster: str,
    context: str,
    files: tuple[Path, ...],
    phase: str,
    profiles: Path,
    output: Path,
    formats: tuple[Output, ...],
    color: str,
    day: str,
) -> int:
    """Compare CLUSTER, as it runs, with the tree that is committed for it.

    Each node with its pool, each object with the cluster's own CRDs and with what others made,
    versions, Kueue's configuration, storage and SR-IOV policies. After the sync also whether queues
    are active, Applications synced and admission policies bound.

    The cluster is only read. What can't be read is an error, `preflight/unchecked`.
    """
    need_profiles(profiles)
    need_apart(profiles, output)
    place = Target(profiles, output, components_root(profiles, output))

    def read(platform: Platform) -> tuple[Site, Facts]:
        site = site_of(platform, cluster)
        return site, facts_of(site, context, files)

    done = preflight(place, phase, day, Run(proofs=of_this_machine()), read)
    where = places(done.generation.checked.profiles, profiles, output)
    found = findings.Findings(done.diagnostics, where)
    besides = {"checked": {"cluster": cluster, "phase": phase, "objects": done.objects}}
    deliver(
        formats,
        color,
        lambda colour: _text(found, done, phase, colour=colour),
        forms_of("preflight", found, **(besides if done.facts else {})),
    )
    return Exit.FINDINGS if has_errors(done.diagnostics) else Exit.FINE


def _text(found: findings.Findings, done: Preflight, phase: str, *, colour: bool) -> str:
    lines = findings.text(found, colour=colour)
    if done.facts is None:
        return lines
    read = counted(len(done.facts.objects), "object")
    return (
        f"{lines}\n{done.facts.cluster}, {phase} the sync: {read} of the cluster compared with "
        f"{done.objects} of the tree"
    )
