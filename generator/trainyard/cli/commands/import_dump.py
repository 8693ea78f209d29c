"""``trainyard import``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from trainyard.adoption.model import Adoption, Choice
from trainyard.adoption.page import page
from trainyard.cli import document, findings
from trainyard.cli.console import notify, printable, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import ReleaseChoice, profiles_option
from trainyard.cli.places import Places, shown_folder
from trainyard.cli.progress import working
from trainyard.model.quantity import counted
from trainyard.scaffold.template import placeholders
from trainyard.tree.hold import editing
from trainyard.workflows.adopt import Adopted, adopt, write_drafts


@click.command("import")
@click.argument(
    "dumps",
    metavar="DUMP...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, allow_dash=True),
)
@click.option("--cluster", required=True, metavar="NAME", help="Name of the new cluster's profile.")
@click.option(
    "--release",
    type=ReleaseChoice(),
    help="Tested set of operator versions that the cluster runs. Default: it is left to choose.",
)
@profiles_option
def command(*, dumps: tuple[Path, ...], cluster: str, release: str | None, profiles: Path) -> int:
    """Draft the profiles of a cluster that runs from DUMP, and connect to nothing.

    A DUMP is a file of `kubectl get -o json` or yaml, a folder of manifests, a must-gather, or
    what `trainyard facts` wrote. Secrets and values of variables are dropped.

    Writes hardware, pools, fabrics, cohorts and teams where no profile is, and a page for
    reviewers to `adoption/`: was, becomes and difference of each team. What the dump does not have
    is a comment `# choose:` at its place. Ends with 1 while one is left.
    """
    with editing(profiles, notify) if profiles.is_dir() else nullcontext(), working("reading"):
        done = adopt(profiles, cluster, release or "", dumps)
        if done.problems:
            return _refused(done)
        if done.adoption is None:
            return _there(cluster, done.open)
        written = write_drafts(profiles, _files(done.adoption))
    result("\n".join(f"wrote {shown_folder(path)}" for path in written))
    notify("\n".join(_summary(done.adoption)))
    return Exit.FINDINGS if done.adoption.choices else Exit.FINE


def _files(adoption: Adoption) -> dict[str, bytes]:
    """Return all that is written: the drafts, and the page for reviewers in two forms."""
    fields = {
        "cluster": adoption.cluster,
        "rows": adoption.rows,
        "pools": adoption.sums,
        "choices": adoption.choices,
        "remarks": adoption.remarks,
        "absent": adoption.absent,
    }
    return {
        **adoption.files,
        f"adoption/{adoption.cluster}.json": document.envelope("import", fields).encode(),
        f"adoption/{adoption.cluster}.md": page(adoption),
    }


def _refused(done: Adopted) -> int:
    found = findings.Findings(done.problems, Places({}, {}))
    result(findings.text(found, colour=False))
    notify("Nothing was written.")
    return Exit.FINDINGS


def _there(cluster: str, left: Sequence[Choice]) -> int:
    """Print what is left to choose in the profiles of a cluster that is there."""
    notify(f"profiles/clusters/{cluster}.yaml is there already. Nothing was written.")
    if left:
        notify("\n".join(_listed(left)))
    return Exit.FINDINGS if left else Exit.FINE


def _summary(adoption: Adoption) -> Iterator[str]:
    differ = sum(row.difference != "0" for row in adoption.rows)
    rows = counted(len(adoption.rows), "row")
    yield f"adoption/{adoption.cluster}.md has {rows}, {differ} of them with a difference."
    if adoption.absent:
        yield f"{counted(len(adoption.absent), 'kind')} of object are not in the dump."
    yield from _listed(adoption.choices)
    for path, content in adoption.files.items():
        for line, what in placeholders(content):
            yield f"  {path}:{line}: {what}"


def _listed(left: Sequence[Choice]) -> Iterator[str]:
    if left:
        yield "Choose, and put the value in place of the comment:"
    for choice in left:
        yield printable(f"  {choice.file}:{choice.line}: {choice.text}")
