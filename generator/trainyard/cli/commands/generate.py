"""``trainyard generate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from trainyard.cli import document, findings
from trainyard.cli.console import printable, say, working
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
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
    today,
)
from trainyard.diagnostics import has_errors
from trainyard.model.quantity import counted
from trainyard.output.hold import held
from trainyard.output.write import Written, preview, write
from trainyard.workflows.freshness import check_fresh
from trainyard.workflows.generate import generate
from trainyard.workflows.transition import check_replaced
from trainyard.workflows.worktree import check_tree_path


@click.command("generate")
@profiles_option
@output_option
@cluster_option
@click.option(
    "--check", is_flag=True, help="Write nothing; fail when the tree is not what would be written."
)
@click.option("--dry-run", is_flag=True, help="Write nothing; tell what would be written.")
@format_option
@color_option
def command(
    *,
    profiles: Path,
    output: Path,
    clusters: tuple[str, ...],
    check: bool,
    dry_run: bool,
    formats: tuple[Output, ...],
    color: str,
) -> int:
    """Write the tree that the profiles describe, whole or not at all.

    Refuses when the profiles have errors, when a profile or quota is gone that the tree was made
    from, and when the change breaks a rule of the family `change`: a field that the API server
    never changes, a runtime edited in place, or a queue, namespace, partition or address range
    taken from a team. It does not refuse changes of VF counts, MTU or kubelet settings, which can
    interrupt running jobs.
    """
    if check and dry_run:
        raise click.UsageError("`--check` and `--dry-run` exclude each other")
    need_profiles(profiles, clusters)
    need_apart(profiles, output)
    writes = not (check or dry_run)
    with working("generating"), held(output, say) if writes else nullcontext():
        generation = generate(
            profiles, components_root(profiles, output), clusters, today(), output
        )
        diagnostics = (
            *generation.diagnostics,
            *check_tree_path(profiles, output, generation.checked),
        )
        if not has_errors(diagnostics):
            diagnostics += tuple(check_replaced(output, generation, clusters))
        if check and not has_errors(diagnostics):
            diagnostics += tuple(check_fresh(output, generation))
        fine = not has_errors(diagnostics)
        need_clusters(generation, profiles, fine=fine)
        written = None
        if fine and not check:
            written = (write if writes else preview)(output, generation.files)
    found = findings.Findings(diagnostics, places(generation.checked.profiles, profiles, output))
    deliver(
        formats,
        color,
        lambda colour: _text(found, written, len(generation.files), dry_run=dry_run, colour=colour),
        lambda: document.report("generate", found, _result(written, dry_run=dry_run)),
    )
    if written and (others := len(written.kept) + len(written.foreign)):
        say(_count_foreign(others, found.places.shown("overlays")))
    return Exit.FINE if fine else Exit.FINDINGS


def _count_foreign(others: int, tree: str) -> str:
    them = "it" if others == 1 else "them"
    return (
        f"{tree} holds {counted(others, 'file')} that Trainyard does not generate; `trainyard "
        f"verify` fails on {them}"
    )


def _result(written: Written | None, *, dry_run: bool) -> dict[str, Any] | None:
    return {"written": not dry_run, **asdict(written)} if written else None


def _text(
    found: findings.Findings, written: Written | None, files: int, *, dry_run: bool, colour: bool
) -> str:
    told = [findings.text(found, colour=colour)] if found.diagnostics else []
    tree = found.places.shown("overlays")
    if written is not None:
        told += _told(written, tree, dry_run=dry_run)
    if not has_errors(found.diagnostics) and not (written and _changes(written)):
        told.append(f"{tree} is up to date: {files} files")
    return "\n".join(told)


def _changes(written: Written) -> dict[str, tuple[str, ...]]:
    changes = {"created": written.created, "changed": written.changed, "deleted": written.deleted}
    return {what: paths for what, paths in changes.items() if paths}


def _told(written: Written, tree: str, *, dry_run: bool) -> Iterator[str]:
    """Yield what happened to each unit, what was left alone, and the sum."""
    changes = _changes(written)
    units = {
        what: Counter(path.rpartition("/")[0] for path in paths) for what, paths in changes.items()
    }
    for unit in sorted({unit for counts in units.values() for unit in counts}):
        counts = ", ".join(f"{units[what][unit]} {what}" for what in units if units[what][unit])
        yield f"{tree}/{unit}: {counts}"
    for path in written.kept:
        yield (
            f"{tree}/{printable(path)}: kept, since it was edited by hand; it is not generated "
            "any more"
        )
    if changes:
        total = ", ".join(f"{len(paths)} {what}" for what, paths in changes.items())
        yield f"{'would write' if dry_run else 'wrote'} {tree}: {total}"
