"""Describe what people do by hand after a change."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.impact.cluster_facts import CHANGED_BY, SYNCED_BY, SYNCED_FROM
from trainyard.change.impact.model import ClusterImpact
from trainyard.cli.impact.marks import MARKS, signed
from trainyard.model.by_hand import NODES_SYNCER
from trainyard.model.quantity import counted

_DELIVERY = {
    SYNCED_BY: (
        "! for a cluster admin: apply `argocd/` for {after}, delete the Applications of {before}",
        "Delete them without their objects. While both are there, both sync the cluster.",
    ),
    SYNCED_FROM: (
        "! for the owner of Argo CD: access to {after}",
        "Until Argo CD reads this commit there, it changes nothing. What runs stays.",
    ),
    CHANGED_BY: (
        "! for the owner of Argo CD: its account on the cluster is {after}",
        "The policies refuse what it writes as another account.",
    ),
}
"""What somebody does at Argo CD when a fact of the delivery differs, and what follows."""


def duty_lines(cluster: ClusterImpact) -> Iterator[str]:
    """Yield what people do on the API server, on nodes, and with files, in this order."""
    if cluster.server:
        yield f"! the API server moves: {cluster.server.before} -> {cluster.server.after}"
        yield "  Every object is made there anew. What is at the old address stays, unwatched."
    yield from _delivery(cluster)
    for work in cluster.node_work:
        nodes = f"{counted(work.nodes, 'node')} of {work.pool}"
        needs = (*signed(work.adds, work.removes), *work.files)
        yield f"~ for the owner of the nodes: {nodes} need {', '.join(needs) or 'no label'}"
    yield from _files(cluster)


def _delivery(cluster: ClusterImpact) -> Iterator[str]:
    for fact in cluster.facts:
        if fact.what in _DELIVERY:
            duty, consequence = _DELIVERY[fact.what]
            yield duty.format(before=fact.before, after=fact.after)
            yield f"  {consequence}"


def _files(cluster: ClusterImpact) -> Iterator[str]:
    for hand in cluster.hands:
        yield f"{MARKS[hand.change]} for {hand.owner}: {', '.join(hand.files)}"
        if hand.owner == NODES_SYNCER:
            yield "  Argo CD applies it once somebody starts this sync."
    changes = {hand.change for hand in cluster.hands if hand.owner != NODES_SYNCER}
    if changes - {"deleted"}:
        yield "  Argo CD applies none of it; the README of the cluster says how."
    if "deleted" in changes:
        yield "  What is in use of a deleted file stays until its owner removes it."
