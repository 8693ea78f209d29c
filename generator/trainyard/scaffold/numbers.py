"""Give a team its numbers on a cluster: on its fabrics, and for its namespace."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from trainyard.diagnostics import Diagnostic
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import RailFabric
from trainyard.model.holding import Holding
from trainyard.model.ids import UIDS, Ids, next_ids
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.scaffold.allocate import next_holding
from trainyard.scaffold.plan import ALLOCATIONS
from trainyard.scaffold.roundtrip import append
from trainyard.scaffold.template import static_files

_EMPTY = f"profiles/{ALLOCATIONS}"

Former = Collection[Holding | Ids]
"""Numbers that some lockfile remembers."""


def new_holding(
    platform: Platform, fabric: RailFabric | None, team: str, since: str, former: Former
) -> tuple[Holding | None, tuple[Diagnostic, ...]]:
    """Return a team's numbers on a fabric, or the reasons why none are left.

    Args:
        platform: its ledger has the numbers that are taken.
        fabric: that the numbers are of; a pool without rails needs none.
        team: its name.
        since: ISO date that is written beside the numbers; empty to leave it out.
        former: numbers that are taken too.
    """
    if fabric is None:
        return None, ()
    taken: list[Allocation | Holding] = [*platform.allocations.values()]
    taken += (number for number in former if isinstance(number, Holding))
    return next_holding(fabric, team, since, taken)


def new_ids(
    platform: Platform, cluster: Cluster, namespace: str, since: str, former: Former
) -> Ids | None:
    """Return the user ids that a namespace has on another cluster, or that none ever had.

    Clusters may share a file server, so two namespaces differ on all of them, and one does not.
    None if the namespace has some here already, the cluster's namespaces have no ranges, or none is
    left.
    """
    known = _ids_of(platform, namespace)
    if not cluster.release.job_scc or cluster.name in known:
        return None
    for ids in known.values():
        # A range that OpenShift gave may be another namespace's on this cluster.
        if not ids.is_of_openshift:
            return replace(ids, since=since, at=None)
    taken = [number for number in former if isinstance(number, Ids)]
    for current in platform.ids.values():
        taken += current
    return next_ids(namespace, taken, since)


def _ids_of(platform: Platform, namespace: str) -> dict[str, Ids]:
    """Return the user ids of a namespace by cluster."""
    every = sorted(platform.ids.items())
    return {name: ids for name, each in every for ids in each if ids.namespace == namespace}


def with_numbers(
    ledger: bytes, cluster: str, holding: Holding | None, ids: Ids | None
) -> dict[str, bytes]:
    """Return the ledger by its path, with a team's numbers added; nothing for a team without.

    Raises:
        TreeError: a comment in the ledger would be lost.
    """
    if not holding and not ids:
        return {}
    content = ledger or static_files()[_EMPTY]
    if holding:
        content = append(content, (cluster, holding.fabric, holding.team), holding.entry)
    if ids:
        content = append(content, (cluster, UIDS, ids.namespace), ids.entry)
    return {ALLOCATIONS: content}
