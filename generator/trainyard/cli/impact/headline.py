"""The first lines of every form: the worst that happens, and what was compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from trainyard.change.diff import Diff
from trainyard.change.impact.disruption import Disruption
from trainyard.change.impact.model import Impact, Upgrade
from trainyard.cli.impact.notices import notices
from trainyard.cli.impact.sections import counts, name_of, sentence, size_of
from trainyard.diagnostics import Severity
from trainyard.model.differences import few
from trainyard.model.quantity import counted

_KINDS = 12
"""Kinds of objects that an upgrade's line names."""


def verdict(diff: Diff) -> Iterator[str]:
    """Yield that the change is refused, if it is, and then the worst that it would do."""
    errors = [found.rule for found in diff.diagnostics if found.severity is Severity.ERROR]
    if errors:
        yield f"refused: {counted(len(errors), 'error')} ({few(sorted({*errors}))})"
    if diff.behind:
        yield (
            "the base has commits that the head lacks, whose changes look undone here; add "
            "`--merge-base` to see what a merge does"
        )
    if diff.impact:
        yield headline(diff, diff.impact)


def headline(diff: Diff, impact: Impact) -> str:
    """Return one sentence with the worst that happens; of a head with another tree, that first."""
    if diff.head and diff.stale:
        files = counted(diff.stale, "file")
        return f"the head's tree is not what its profiles make: {files}; {_worst(diff, impact)}"
    return _worst(diff, impact)


def _worst(diff: Diff, impact: Impact) -> str:
    """Return one sentence with the worst that happens, and the nodes that nobody can use."""
    return "; ".join([*_emptied(impact), *_disruptions(diff, impact), *notices(impact)])


def _emptied(impact: Impact) -> Iterator[str]:
    """Yield each pool that is removed, or on which no team has nodes any more."""
    for cluster in impact.clusters:
        for pool in cluster.pools if cluster.change == "changed" else ():
            if not pool.after.nodes:
                yield f"removes pool {pool.pool} of {cluster.name}"
            elif pool.is_emptied:
                yield f"no job can start on {pool.pool} of {cluster.name} any more"


def _disruptions(diff: Diff, impact: Impact) -> Iterator[str]:
    """Yield what the way to another release disrupts, and what the merge does."""
    drained = [change for change in diff.releases if change.drains]
    for change in drained:
        teams, way = few(change.teams), f"its way to {change.after}"
        yield f"evicts all jobs of {teams} on {change.cluster}: {way} begins with a drain"
    if impact.worst:
        yield _disruption(impact, impact.worst)
    elif not drained:
        yield _harmless(diff, impact)


def _disruption(impact: Impact, worst: Disruption) -> str:
    """Return the worst disruption, and how many others there are."""
    more = sum(len(cluster.disruptions) for cluster in impact.clusters) - 1
    size = f", {amount}" if (amount := size_of(worst)) else ""
    others = f"; and {counted(more, 'more disruption')}" if more else ""
    return f"{sentence(worst, _cluster_of(impact))}{size}: {worst.cause}{others}"


def _harmless(diff: Diff, impact: Impact) -> str:
    if impact.clusters or impact.upgrade:
        return "evicts: nobody"
    return "nothing changes" if is_nothing(diff) else "no effect on teams, jobs or nodes"


def is_nothing(diff: Diff) -> bool:
    """Return whether a change has no effect, edits no profile, and has no finding."""
    if diff.impact is None or diff.impact.clusters or diff.impact.upgrade:
        return False
    return not (diff.diagnostics or diff.approvals or diff.stale)


def _cluster_of(impact: Impact) -> str:
    """Return the name of the cluster with the worst disruption."""
    return next(each.name for each in impact.clusters if impact.worst in each.disruptions)


def totals(impact: Impact) -> str:
    """Return what happens to objects on all clusters, e.g. ``2 created, 14 changed``."""
    every = chain.from_iterable(cluster.objects for cluster in impact.clusters)
    return f"objects: {counts(every) or 'none'}"


def upgrade_lines(upgrade: Upgrade, *, fields: bool = False) -> Iterator[str]:
    """Yield what only another version of Trainyard changes: by kind, or each object for itself."""
    kinds: Counter[str] = Counter()
    for (_, kind), count in upgrade.kinds.items():
        kinds[kind] += count
    every = f"{counted(kinds.total(), 'object')} on {counted(len(upgrade.objects), 'cluster')}"
    yield (
        f"Trainyard {upgrade.before} -> {upgrade.after} generates {every} anew; no profile does, "
        "so they are not in the lists"
    )
    if fields:
        for cluster, objects in sorted(upgrade.objects.items()):
            for each in sorted(objects):
                yield f"  {cluster}: {each.kind} {name_of(each)}"
        return
    shown, rest = [], kinds.total()
    for kind, count in kinds.most_common(_KINDS):
        shown.append(f"{kind} {count}")
        rest -= count
    if rest:
        shown.append(f"others {rest}")
    if shown:
        yield f"  {', '.join(shown)}"


def compared(diff: Diff) -> Iterator[str]:
    """Yield what was compared with what."""
    head = f"commit {diff.head.short}" if diff.head else "the work tree"
    yield f"compared: commit {diff.base.short} of {diff.base.date} with {head}"
    if diff.stale and not diff.head:
        files = counted(diff.stale, "file")
        yield f"the tree here is not what the profiles make ({files}): run `trainyard generate`"
    if diff.known:
        yield f"{counted(diff.known, 'warning')} that the base has too, not shown"
