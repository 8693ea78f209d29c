"""``trainyard init``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

import click

from trainyard.cli.commands.ci import plan
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import PRESETS, ReleaseChoice
from trainyard.cli.places import shown_folder
from trainyard.git.worktree import path_in_work_tree
from trainyard.profiles.discover import check_name
from trainyard.scaffold.ci import SYSTEMS, write_ci
from trainyard.scaffold.template import placeholders
from trainyard.schema.profiles import profile_schema
from trainyard.tree.hold import editing
from trainyard.workflows.begin import FIRST_CLUSTER, ClusterWanted, begin


@click.command("init")
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path), default="."
)
@click.option(
    "--cluster",
    metavar="NAME",
    default=FIRST_CLUSTER,
    show_default=True,
    help="Its name. No two clusters of one Argo CD may have the same, also in two repositories.",
)
@click.option(
    "--release",
    type=ReleaseChoice(),
    default="openshift-ai-3.5",
    show_default=True,
    help="Tested set of operator versions that the cluster runs.",
)
@click.option(
    "--hardware",
    type=click.Choice(PRESETS),
    metavar="PRESET",
    default="nvidia-dgx-h100",
    show_default=True,
    help=f"Type of the nodes: {', '.join(PRESETS)}.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=5,
    show_default=True,
    help="Number of nodes; one of three or more is kept in reserve. On one, a job is one pod.",
)
@click.option(
    "--ci",
    "system",
    type=click.Choice(sorted(SYSTEMS)),
    help="Write the files of `trainyard ci` for this system too.",
)
def command(
    *, folder: Path, cluster: str, release: str, hardware: str, nodes: int, system: str | None
) -> int:
    """Write the first profiles of a repository into DIR (default: the current folder).

    They describe one cluster with one node type, one runtime and no team.
    """
    if found := check_name(cluster, f"profiles/clusters/{cluster}.yaml"):
        raise click.UsageError(found.message)
    tree = _path_of_tree(folder)
    # Planned first, so that nothing is written when a file of it is there with other content.
    root, ci = plan(system, folder) if system else (folder, {})
    with editing(folder, notify) if folder.is_dir() else nullcontext():
        written = begin(folder, tree, ClusterWanted(release, hardware, nodes, cluster))
    write_ci(root, ci)
    written |= {root / path: content for path, content in ci.items()}
    for path in written:
        result(f"wrote {shown_folder(path)}")
    for line in _next_steps(folder, written, cluster, nodes):
        notify(line)
    return Exit.FINE


def _path_of_tree(folder: Path) -> str:
    """Return the tree's path in the Git repository, as Argo CD gets it.

    Raises:
        UsageError: Argo CD would not take it.
    """
    tree = path_in_work_tree(folder / "overlays") or "overlays"
    if not re.search(profile_schema("trainyard")["properties"]["path"]["pattern"], tree):
        message = (
            f"`{tree}` can't be Argo CD's path; choose a folder whose path has only letters, "
            "digits, `.`, `_`, `-`"
        )
        raise click.UsageError(message)
    return tree


def _next_steps(
    folder: Path, written: Mapping[Path, bytes], cluster: str, nodes: int
) -> Iterator[str]:
    yield "Next, replace the placeholders, each marked with a comment:"
    for path, content in written.items():
        for line, what in placeholders(content):
            yield f"  {shown_folder(path)}:{line}: {what}"
    where = "" if folder == Path() else f", in {folder},"
    team = "trainyard add team NAME" if nodes > 1 else "trainyard add team NAME --nodes 1"
    yield f"Then{where} run `{team}` and `trainyard generate`."
    readme = shown_folder(folder / "overlays" / cluster / "README.md")
    yield "The first sync takes over Kueue and the pools' nodes, also from workloads that are"
    yield f"there: read the first section of {readme} before it."
