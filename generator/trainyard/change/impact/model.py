"""The impact of a change: what each cluster's teams, networks and nodes gain, lose and suffer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from trainyard.change.impact.access import AccessChange, NamespaceChange, Rename, RoleChange
from trainyard.change.impact.attachments import AddressChange
from trainyard.change.impact.disruption import Disruption
from trainyard.change.impact.dumped import JobsChange
from trainyard.change.impact.facts import FactChange
from trainyard.change.impact.hands import HandChange, NodeWork, ServerChange
from trainyard.change.impact.network import PathChange
from trainyard.change.impact.objects import NAME_OF_QUEUE, ObjectChange
from trainyard.change.impact.pools import (
    CohortChange,
    MaintenanceChange,
    OrderChange,
    PayerChange,
    PoolChange,
)
from trainyard.change.impact.quotas import QuotaChange, Transfer
from trainyard.change.impact.rights import TermChange, ViewerChange
from trainyard.change.impact.runtimes import RuntimeChange
from trainyard.change.impact.states import (
    AlertChange,
    ClaimChange,
    DeadlineChange,
    LogChange,
    PriorityChange,
    RegulationChange,
    WaitingChange,
)
from trainyard.change.impact.stops import StopChange
from trainyard.model.identity import Identity


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Objects that differ only because another version of Trainyard generates them.

    Args:
        before, after: versions.
        objects: by cluster.
    """

    before: str
    after: str
    objects: Mapping[str, frozenset[Identity]]

    @property
    def kinds(self) -> dict[tuple[str, str], int]:
        """Number of the objects by cluster and kind, sorted."""
        kinds: Counter[tuple[str, str]] = Counter()
        for cluster, identities in self.objects.items():
            kinds.update((cluster, identity.kind) for identity in identities)
        return dict(sorted(kinds.items()))


@dataclass(frozen=True, slots=True)
class ClusterImpact:
    """Impact on one cluster; what is empty does not change.

    Args:
        change: ``created``, ``changed`` or ``deleted``.
        drops_credentials: whether the forwarder drops lines with a credential, where that differs.
        jobs: what becomes of the jobs that a dump lists; None without a dump.
    """

    name: str
    change: str
    disruptions: tuple[Disruption, ...] = ()
    renames: tuple[Rename, ...] = ()
    stops: tuple[StopChange, ...] = ()
    quotas: tuple[QuotaChange, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    payers: tuple[PayerChange, ...] = ()
    cohorts: tuple[CohortChange, ...] = ()
    orders: tuple[OrderChange, ...] = ()
    pools: tuple[PoolChange, ...] = ()
    maintenance: tuple[MaintenanceChange, ...] = ()
    namespaces: tuple[NamespaceChange, ...] = ()
    regulations: tuple[RegulationChange, ...] = ()
    claims: tuple[ClaimChange, ...] = ()
    priorities: tuple[PriorityChange, ...] = ()
    deadlines: tuple[DeadlineChange, ...] = ()
    access: tuple[AccessChange, ...] = ()
    roles: tuple[RoleChange, ...] = ()
    terms: tuple[TermChange, ...] = ()
    viewers: tuple[ViewerChange, ...] = ()
    logs: tuple[LogChange, ...] = ()
    alerts: tuple[AlertChange, ...] = ()
    waiting: tuple[WaitingChange, ...] = ()
    drops_credentials: bool | None = None
    network: tuple[PathChange, ...] = ()
    addresses: tuple[AddressChange, ...] = ()
    runtimes: tuple[RuntimeChange, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    hands: tuple[HandChange, ...] = ()
    node_work: tuple[NodeWork, ...] = ()
    server: ServerChange | None = None
    facts: tuple[FactChange, ...] = ()
    jobs: JobsChange | None = None

    @property
    def left_queues(self) -> tuple[str, ...]:
        """Namespace and name of each LocalQueue that goes while its ClusterQueue stays."""
        left = (each.identity for each in self.objects if each.reason == NAME_OF_QUEUE)
        return tuple(f"{queue.namespace}/{queue.name}" for queue in left)


@dataclass(frozen=True, slots=True)
class Impact:
    """Impact of a change on all clusters; one that does not change is left out."""

    clusters: tuple[ClusterImpact, ...]
    upgrade: Upgrade | None = None

    @property
    def worst(self) -> Disruption | None:
        """The worst disruption: by effect, then by GPUs; None when nothing that runs is touched."""
        every = chain.from_iterable(cluster.disruptions for cluster in self.clusters)
        return max(every, key=lambda disruption: disruption.size, default=None)
