"""The first lines of every form: the worst that happens, and what was compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from trainyard.change.diff import Diff
from trainyard.change.impact.model import ClusterImpact, Impact
from trainyard.change.impact.upgrade import Upgrade
from trainyard.cli.impact.sections import counts, sentence, size_of
from trainyard.diagnostics import Severity
from trainyard.model.differences import few
from trainyard.model.quantity import counted

_KINDS = 12
"""Kinds of objects that an upgrade's line names."""


def verdict(diff: Diff) -> Iterator[str]:
    """Yield that the change is refused, if it is, and then the worst that it would do."""
    errors = [
        diagnostic for diagnostic in diff.diagnostics if diagnostic.severity is Severity.ERROR
    ]
    if errors:
        rules = few(sorted({error.rule for error in errors}))
        yield f"refused: {counted(len(errors), 'error')} ({rules})"
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
    return "; ".join([*_emptied(impact), _disruption(diff, impact), *notices(impact)])


def notices(impact: Impact) -> Iterator[str]:
    """Yield what a reviewer must know beside disruptions: what is lost, opened, or final."""
    yield from _out_of_use(impact)
    yield from _moved(impact)
    changed = [cluster for cluster in impact.clusters if cluster.change == "changed"]
    for what, describe in _NOTICES.items():
        if names := sorted({name for cluster in changed for name in describe(cluster)}):
            yield f"{what} {few(names)}"


def _moved(impact: Impact) -> Iterator[str]:
    for cluster in impact.clusters:
        if cluster.server:
            yield f"{cluster.name} moves to another API server"


def _losing(cluster: ClusterImpact) -> Iterator[str]:
    """Yield the teams whose own resources become fewer."""
    for quota in cluster.quotas:
        if any(each.after < each.before for each in quota.resources):
            yield quota.team


def _weakened(cluster: ClusterImpact) -> Iterator[str]:
    for each in cluster.regulations:
        if each.lost:
            yield each.team


def _raised(cluster: ClusterImpact) -> Iterator[str]:
    for priority in cluster.priorities:
        if priority.added:
            yield from priority.namespaces


def _grown(cluster: ClusterImpact) -> Iterator[str]:
    for claim in cluster.claims:
        if claim.grows:
            yield f"{claim.namespace}/{claim.claim}"


def _opened(cluster: ClusterImpact) -> Iterator[str]:
    """Yield the namespaces that were there before; a new one opens whatever it needs."""
    new = _new_namespaces(cluster)
    for path in cluster.network:
        if path.opened:
            yield from (namespace for namespace in path.namespaces if namespace not in new)


def _closed(cluster: ClusterImpact) -> Iterator[str]:
    for path in cluster.network:
        if not path.opened:
            yield from path.namespaces


def _gaining(cluster: ClusterImpact) -> Iterator[str]:
    """Yield who may do more, but for the rights in a new namespace."""
    new = _new_namespaces(cluster)
    for access in cluster.access:
        places = {place for role in access.gained for place in role.namespaces}
        # Who has a role in a team reads the catalog of the cluster too.
        if access.gained and not (places and places <= new):
            yield access.subject
    yield from _of_richer_roles(cluster)


def _deprived(cluster: ClusterImpact) -> Iterator[str]:
    """Yield who may do less and nothing else instead; with a namespace its rights go too."""
    gone = {space.namespace for space in cluster.namespaces if not space.added}
    for access in cluster.access:
        places = {place for role in access.lost for place in role.namespaces}
        if access.lost and not access.gained and not (places and places <= gone):
            yield access.subject
    for role in cluster.roles:
        if role.lost and not role.gained:
            yield from role.subjects


def _kept_shorter(cluster: ClusterImpact) -> Iterator[str]:
    for log in cluster.logs:
        if log.after and log.after < log.before:
            yield from log.teams


def _keeping_credentials(cluster: ClusterImpact) -> Iterator[str]:
    if cluster.drops_credentials is False:
        yield cluster.name


def _of_richer_roles(cluster: ClusterImpact) -> Iterator[str]:
    for role in cluster.roles:
        if role.gained:
            yield from role.subjects


def _new_namespaces(cluster: ClusterImpact) -> set[str]:
    return {space.namespace for space in cluster.namespaces if space.added}


_NOTICES: dict[str, Callable[[ClusterImpact], Iterator[str]]] = {
    "takes resources from": _losing,
    "demands less of": _weakened,
    "grows for good": _grown,
    "permits another priority to": _raised,
    "opens network paths of": _opened,
    "closes network paths of": _closed,
    "gives rights to": _gaining,
    "takes rights from": _deprived,
    "keeps log lines for a shorter time of": _kept_shorter,
    "keeps log lines with credentials on": _keeping_credentials,
}
"""What is said of some teams, namespaces or subjects, the worst first."""


def _emptied(impact: Impact) -> Iterator[str]:
    """Yield each pool on which no team has nodes any more."""
    for cluster in impact.clusters:
        for pool in cluster.pools:
            if pool.is_emptied and cluster.change == "changed":
                yield f"no job can start on {pool.pool} of {cluster.name} any more"


def _out_of_use(impact: Impact) -> Iterator[str]:
    """Yield each pool of which nodes go out of use."""
    for cluster in impact.clusters:
        for window in cluster.maintenance:
            if window.takes_nodes:
                nodes = f"{len(window.out)} of {counted(window.nodes, 'node')}"
                yield f"{nodes} of {window.pool} on {cluster.name} out of use"


def _disruption(diff: Diff, impact: Impact) -> str:
    """Return the worst disruption, and how many others there are."""
    worst = impact.worst
    if worst is None:
        return "evicts: nobody" if impact.clusters or impact.upgrade else _without_effect(diff)
    more = sum(len(cluster.disruptions) for cluster in impact.clusters) - 1
    size = f", {amount}" if (amount := size_of(worst)) else ""
    others = f"; and {counted(more, 'more disruption')}" if more else ""
    return f"{sentence(worst, _cluster_of(impact))}{size}: {worst.cause}{others}"


def is_nothing(diff: Diff) -> bool:
    """Return whether a change has no effect, edits no profile, and has no finding."""
    if diff.impact is None or diff.impact.clusters or diff.impact.upgrade:
        return False
    return not (diff.diagnostics or diff.approvals or diff.stale)


def _without_effect(diff: Diff) -> str:
    if is_nothing(diff):
        return "nothing changes"
    return "no effect on teams, jobs or nodes"


def _cluster_of(impact: Impact) -> str:
    """Return the name of the cluster with the worst disruption."""
    names = (cluster.name for cluster in impact.clusters if impact.worst in cluster.disruptions)
    return next(names)


def totals(impact: Impact) -> str:
    """Return what happens to objects on all clusters, e.g. ``2 created, 14 changed``."""
    every = (edit.change for cluster in impact.clusters for edit in cluster.objects)
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
    if diff.stale and not diff.head:
        files = counted(diff.stale, "file")
        yield f"the tree here is not what the profiles make ({files}): run `trainyard generate`"
    if diff.known:
        yield f"{counted(diff.known, 'warning')} that the base has too, not shown"
