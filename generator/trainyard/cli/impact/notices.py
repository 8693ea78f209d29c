"""What the first line says beside disruptions: what is lost, opened, or final."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from trainyard.change.impact.access import BoundRole
from trainyard.change.impact.cluster_facts import (
    FURTHER_KINDS,
    OF_OTHERS,
    REFUSED,
    SYNCED_BY,
    SYNCED_FROM,
)
from trainyard.change.impact.model import ClusterImpact, Impact
from trainyard.change.impact.values import NONE
from trainyard.model.differences import few
from trainyard.model.quantity import counted

_DELIVERY = {SYNCED_BY: "lets another Argo CD sync", SYNCED_FROM: "moves the source of"}
"""What is said of clusters whose delivery moves, in either direction."""


def notices(impact: Impact) -> Iterator[str]:
    """Yield what a reviewer must know beside disruptions: what is lost, opened, or final."""
    yield from _stopped(impact)
    yield from _out_of_use(impact)
    yield from _moved(impact)
    yield from _given_up(impact)
    changed = [cluster for cluster in impact.clusters if cluster.change == "changed"]
    for what, describe in _NOTICES.items():
        names = set(chain.from_iterable(map(describe, changed)))
        if names:
            yield f"{what} {few(sorted(names))}"


def _stopped(impact: Impact) -> Iterator[str]:
    """Yield whose queues are held or opened; the disruptions have those that are drained."""
    for cluster in impact.clusters:
        for word, what in {"held": "holds", "active": "opens"}.items():
            teams = sorted({each.team for each in cluster.stops if each.after == word})
            if teams:
                yield f"{what} queues of {few(teams)} on {cluster.name}"


def _moved(impact: Impact) -> Iterator[str]:
    for cluster in impact.clusters:
        if cluster.server:
            yield f"{cluster.name} moves to another API server"
    for fact, what in _DELIVERY.items():
        names = [each.name for each in impact.clusters if fact in {one.what for one in each.facts}]
        if names:
            yield f"{what} {few(names)}"


def _given_up(impact: Impact) -> Iterator[str]:
    for cluster in impact.clusters:
        if cluster.change == "deleted":
            yield f"gives up {cluster.name}: what runs there stays, and Argo CD compares it no more"


def _losing(cluster: ClusterImpact) -> Iterator[str]:
    """Yield the teams whose own resources become fewer."""
    for quota in cluster.quotas:
        if any(each.after < each.before for each in quota.resources):
            yield quota.team


def _weakened(cluster: ClusterImpact) -> Iterator[str]:
    for each in cluster.regulations:
        if each.lost:
            yield each.team


def _unanswered(cluster: ClusterImpact) -> Iterator[str]:
    for each in cluster.regulations:
        if each.opened:
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
            yield from set(path.namespaces) - new


def _closed(cluster: ClusterImpact) -> Iterator[str]:
    for path in cluster.network:
        if not path.opened:
            yield from path.namespaces


def _gaining(cluster: ClusterImpact) -> Iterator[str]:
    """Yield who may do more, but for the rights in a new namespace."""
    new = _new_namespaces(cluster)
    for access in cluster.access:
        if access.gained and not _only_in(new, access.gained):
            yield access.subject
    for role in cluster.roles:
        if role.gained:
            yield from role.subjects


def _deprived(cluster: ClusterImpact) -> Iterator[str]:
    """Yield who may do less and nothing else instead; with a namespace its rights go too."""
    gone = {space.namespace for space in cluster.namespaces if not space.added}
    for access in cluster.access:
        if access.is_loss and not _only_in(gone, access.lost):
            yield access.subject
    for role in cluster.roles:
        if role.is_loss:
            yield from role.subjects


def _only_in(namespaces: set[str], roles: Iterable[BoundRole]) -> bool:
    """Return whether roles are of these namespaces alone.

    Who has a role in a team reads the catalog of the cluster too.
    """
    places = set(chain.from_iterable(role.namespaces for role in roles))
    return bool(places) and places <= namespaces


def _kept_shorter(cluster: ClusterImpact) -> Iterator[str]:
    for log in cluster.logs:
        if log.is_shorter:
            yield from log.teams


def _keeping_credentials(cluster: ClusterImpact) -> Iterator[str]:
    if cluster.drops_credentials is False:
        yield cluster.name


def _new_namespaces(cluster: ClusterImpact) -> set[str]:
    return {space.namespace for space in cluster.namespaces if space.added}


def _permitting_kinds(cluster: ClusterImpact) -> Iterator[str]:
    for each in cluster.facts:
        had, has = (set(kinds.split(", ")) for kinds in (each.before, each.after))
        if each.what == FURTHER_KINDS and has - had - {NONE}:
            yield cluster.name


def _opening_pools(cluster: ClusterImpact) -> Iterator[str]:
    if any(OF_OTHERS in each.subjects and each.before == REFUSED for each in cluster.facts):
        yield cluster.name


def _closing_pools(cluster: ClusterImpact) -> Iterator[str]:
    if any(OF_OTHERS in each.subjects and each.after == REFUSED for each in cluster.facts):
        yield cluster.name


def _left(cluster: ClusterImpact) -> Iterator[str]:
    yield from cluster.left_queues


_NOTICES: dict[str, Callable[[ClusterImpact], Iterator[str]]] = {
    "starts no job that waits in": _left,
    "takes resources from": _losing,
    "demands less of": _weakened,
    "leaves measures unanswered for": _unanswered,
    "grows for good": _grown,
    "permits another priority to": _raised,
    "opens network paths of": _opened,
    "closes network paths of": _closed,
    "gives rights to": _gaining,
    "takes rights from": _deprived,
    "permits further kinds to the teams' accounts on": _permitting_kinds,
    "lets pods of others use the pools of": _opening_pools,
    "refuses new pods of others on the pools of": _closing_pools,
    "keeps log lines for a shorter time of": _kept_shorter,
    "keeps log lines with credentials on": _keeping_credentials,
}
"""What is said of some teams, namespaces or subjects, the worst first."""


def _out_of_use(impact: Impact) -> Iterator[str]:
    """Yield each pool of which nodes go out of use."""
    for cluster in impact.clusters:
        for window in cluster.maintenance:
            if window.takes_nodes:
                nodes = f"{len(window.out)} of {counted(window.nodes, 'node')}"
                yield f"{nodes} of {window.pool} on {cluster.name} out of use"
