"""The first lines of every form: the worst that happens, and what was compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.cli.impact.sections import counts, sentence
from trainyard.impact.model import Impact
from trainyard.impact.upgrade import Upgrade
from trainyard.model.quantity import counted
from trainyard.workflows.diff import Diff

_KINDS = 12
"""Kinds of objects that an upgrade's line names."""


def headline(impact: Impact) -> str:
    """Return one sentence with the worst that happens."""
    worst = impact.worst
    if worst is None:
        return "nothing changes" if not impact.clusters and not impact.upgrade else "evicts: nobody"
    more = sum(len(cluster.disruptions) for cluster in impact.clusters) - 1
    gpus = f", at most {counted(worst.gpus, 'running GPU')}" if worst.gpus else ""
    others = f"; and {counted(more, 'more disruption')}" if more else ""
    return f"{sentence(worst, _cluster_of(impact))}{gpus}: {worst.cause}{others}"


def _cluster_of(impact: Impact) -> str:
    """Return the name of the cluster with the worst disruption."""
    names = (each.name for each in impact.clusters if impact.worst in each.disruptions)
    return next(names)


def totals(impact: Impact) -> str:
    """Return what happens to objects on all clusters, e.g. ``2 created, 14 changed``."""
    every = (each.change for cluster in impact.clusters for each in cluster.objects)
    return f"objects: {counts(every) or 'none'}"


def upgrade_lines(upgrade: Upgrade) -> Iterator[str]:
    """Yield what only another version of Trainyard changes, grouped by kind."""
    kinds: Counter[str] = Counter()
    for (_, kind), count in upgrade.kinds.items():
        kinds[kind] += count
    every = f"{counted(kinds.total(), 'object')} on {counted(len(upgrade.objects), 'cluster')}"
    yield (
        f"Trainyard {upgrade.before} -> {upgrade.after} generates {every} anew; no profile does, "
        "so they are not in the lists"
    )
    shown = [f"{kind} {count}" for kind, count in kinds.most_common(_KINDS)]
    rest = kinds.total() - sum(count for _, count in kinds.most_common(_KINDS))
    if shown:
        yield f"  {', '.join([*shown, f'others {rest}'] if rest else shown)}"


def compared(diff: Diff) -> Iterator[str]:
    """Yield what was compared with what."""
    head = f"commit {diff.head.short}" if diff.head else "the work tree"
    yield f"compared: commit {diff.base.short} of {diff.base.date} with {head}"
    if diff.behind:
        yield (
            "the base has commits that the head lacks, whose changes look undone here; add "
            "`--merge-base` to see what a merge does"
        )
    if diff.known:
        yield f"{counted(diff.known, 'warning')} that the base has too, not shown"
