"""``trainyard generate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from trainyard.cli import document, findings
from trainyard.cli.console import notify, printable
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
from trainyard.cli.progress import Line, remembering, working
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Target
from trainyard.model.quantity import counted
from trainyard.tree.hold import held
from trainyard.tree.write import Written, preview, write
from trainyard.workflows.generate import check_tree


@click.command("generate")
@profiles_option
@output_option
@cluster_option
@click.option(
    "--check", is_flag=True, help="Write nothing; fail when the tree is not what would be written."
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would be written.")
@format_option(*FORMS)
@color_option
@today_option
def command(
    *,
    profiles: Path,
    output: Path,
    clusters: tuple[str, ...],
    check: bool,
    dry_run: bool,
    formats: tuple[Output, ...],
    color: str,
    day: str,
) -> int:
    """Write the tree that the profiles describe, whole or not at all.

    Writes nothing if the profiles have errors, or if a profile or quota of the tree was deleted.
    The same holds if the change breaks a rule of the family `change`: it edits an immutable field,
    edits a runtime in place, or takes a queue, namespace or numbers from a team. The tree in the
    folder counts as synced: remove that of a cluster that Argo CD has never synced. Changes of VF
    counts, MTU and kubelet settings are written, although they can interrupt running jobs.
    """
    if check and dry_run:
        raise click.UsageError("`--check` and `--dry-run` exclude each other")
    need_profiles(profiles, clusters)
    need_apart(profiles, output)
    written = None
    place = Target(profiles, output, components_root(profiles, output))
    with working("generating", "clusters") as line, _held(output, line, check or dry_run):
        generation, diagnostics = check_tree(place, day, clusters, remembering(line), fresh=check)
        fine = not has_errors(diagnostics)
        need_clusters(generation, profiles, fine=fine)
        if fine and not check:
            written = (preview if dry_run else write)(output, generation.files, generation.same)
    found = findings.Findings(diagnostics, places(generation.checked.profiles, profiles, output))
    deliver(
        formats,
        color,
        lambda colour: _text(found, written, len(generation.files), dry_run=dry_run, colour=colour),
        forms_of("generate", found, tree=_tree(written, dry_run=dry_run)),
    )
    _notify_foreign(written, found.places.shown("overlays"))
    return Exit.FINE if fine else Exit.FINDINGS


def _held(output: Path, line: Line, only_looks: bool) -> AbstractContextManager[None]:
    """Return a context that holds the tree for a run that writes it."""
    return nullcontext() if only_looks else held(output, line.say)


def _notify_foreign(written: Written | None, tree: str) -> None:
    """Print how many files of the tree Trainyard does not generate."""
    others = len(written.kept) + len(written.foreign) if written else 0
    if others:
        pronoun = "it" if others == 1 else "them"
        notify(
            f"{tree} holds {counted(others, 'file')} that Trainyard does not generate; `trainyard "
            f"verify` fails on {pronoun}"
        )


def _tree(written: Written | None, *, dry_run: bool) -> dict[str, Any] | None:
    return {"written": not dry_run, **document.plain(written)} if written else None


def _text(
    found: findings.Findings, written: Written | None, files: int, *, dry_run: bool, colour: bool
) -> str:
    lines = [findings.text(found, colour=colour)] if found.diagnostics else []
    tree = found.places.shown("overlays")
    if written is not None:
        lines += _changed_units(written, tree)
        lines += _kept(written, tree)
        lines += _total(written, tree, dry_run=dry_run)
    if not has_errors(found.diagnostics) and not (written and _changes(written)):
        lines.append(f"{tree} is up to date: {files} files")
    return "\n".join(lines)


def _changes(written: Written) -> dict[str, tuple[str, ...]]:
    """Return the paths of each kind of change that there is."""
    changes = {"created": written.created, "changed": written.changed, "deleted": written.deleted}
    return {change: paths for change, paths in changes.items() if paths}


def _changed_units(written: Written, tree: str) -> Iterator[str]:
    """Yield one line for each unit with changes."""
    units: dict[str, Counter[str]] = {}
    for change, paths in _changes(written).items():
        for path in paths:
            units.setdefault(path.rpartition("/")[0], Counter())[change] += 1
    for unit, counts in sorted(units.items()):
        numbers = ", ".join(f"{count} {change}" for change, count in counts.items())
        seen = (
            "; `trainyard diff` shows which nodes they drain"
            if counts["changed"] and _is_of_nodes(unit)
            else ""
        )
        yield f"{tree}/{printable(unit)}: {numbers}{seen}"


def _is_of_nodes(unit: str) -> bool:
    """Return whether a unit is a cluster's objects that set up nodes."""
    return unit.partition("/")[2] == "nodes"


def _kept(written: Written, tree: str) -> Iterator[str]:
    """Yield one line for each file that is not ours any more and is not generated any more."""
    for path in written.kept:
        yield (
            f"{tree}/{printable(path)}: kept, since it does not say that Trainyard generated it; "
            "it is not generated any more"
        )


def _total(written: Written, tree: str, *, dry_run: bool) -> Iterator[str]:
    """Yield the sum of all changes, if there are any."""
    changes = _changes(written)
    if changes:
        total = ", ".join(f"{len(paths)} {change}" for change, paths in changes.items())
        yield f"{'would write' if dry_run else 'wrote'} {tree}: {total}"
