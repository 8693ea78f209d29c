"""``--context`` and ``--from``: where the facts of a cluster come from."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli.exits import NoInput
from trainyard.cli.options import need_name
from trainyard.cli.progress import working
from trainyard.generation.generate import Run, Target
from trainyard.model.facts import Facts
from trainyard.model.platform import Platform, Site
from trainyard.proofs import of_this_machine
from trainyard.workflows.beside import Beside, Findings, Wanted, beside
from trainyard.workflows.facts import OtherClusterError, from_context, from_files

Sources = tuple[str, tuple[Path, ...]]
"""Context of kubectl, and files."""

context_option = click.option(
    "--context",
    default="",
    metavar="NAME",
    help="Context of kubectl's configuration; only `kubectl get --raw` of a fixed list of paths "
    "is run.",
)
from_option = click.option(
    "--from",
    "files",
    type=click.Path(path_type=Path, allow_dash=True),
    multiple=True,
    metavar="FILE",
    help="What `trainyard facts` wrote, or dumps of `kubectl get -o json` or yaml, or a folder of "
    "them; may be given several times; - is standard input.",
)


def site_of(platform: Platform, name: str) -> Site:
    """Return a cluster that is in use.

    Raises:
        click.UsageError: there is none of this name.
        NoInput: it is retired.
    """
    need_name("cluster", name, platform.clusters)
    found = next((site for site in platform.sites if site.name == name), None)
    if found is None:
        raise NoInput(f"cluster `{name}` is retired: nothing of it is delivered")
    return found


def facts_of(site: Site, context: str, files: tuple[Path, ...]) -> Facts:
    """Return the facts of a cluster.

    Raises:
        click.UsageError: neither or both are named, or they are of another cluster.
        TreeError: the API server does not answer, or a file is not a dump.
        ToolError: kubectl is missing.
    """
    if bool(context) == bool(files):
        raise click.UsageError("name either `--context`, or files by `--from`")
    try:
        with working("reading"):
            return from_context(site, context) if context else from_files(site, files)
    except OtherClusterError as problem:
        raise click.UsageError(str(problem)) from problem


def compared(
    place: Target, cluster: str, sources: Sources, when: tuple[str, ...], find: Findings
) -> Beside:
    """Return a cluster beside its committed tree.

    Args:
        place: the profiles and the tree.
        cluster: its name.
        sources: context, and files.
        when: phase, day that last days are compared with, and day of the facts if it is known.
        find: looks at both.

    Raises:
        click.UsageError: as `site_of` and `facts_of`; so the others.
    """

    def read(platform: Platform) -> tuple[Site, Facts]:
        site = site_of(platform, cluster)
        return site, facts_of(site, *sources)

    return beside(Wanted(place, read, *when), Run(proofs=of_this_machine()), find)
