"""``trainyard init``."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import click

from trainyard.cli.console import result, say
from trainyard.cli.exits import Exit
from trainyard.cli.places import shown_folder
from trainyard.output.hold import editing
from trainyard.scaffold.init import init
from trainyard.schema.profiles import profile_schema
from trainyard.workflows.worktree import path_in_work_tree


@click.command("init", short_help="Make a repository to start from.")
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path), default="."
)
def command(folder: Path) -> int:
    """Write the first profiles of a repository into DIR (here, when not given): one cluster, one node type, no team."""
    tree = path_in_work_tree(folder / "overlays") or "overlays"
    if not re.search(profile_schema("trainyard")["properties"]["path"]["pattern"], tree):
        message = (
            f"`{tree}` can't be Argo CD's path; take a folder whose path has only letters, "
            "digits, `.`, `_`, `-`"
        )
        raise click.UsageError(message)
    with editing(folder, say) if folder.is_dir() else nullcontext():
        written = init(folder, tree)
    for path in written:
        result(f"wrote {shown_folder(path)}")
    where = "" if folder == Path() else f"in {folder} "
    say(
        f"Next: {where}adapt the profiles to your cluster, then run `trainyard add team NAME` and "
        "`trainyard generate`."
    )
    return Exit.FINE
