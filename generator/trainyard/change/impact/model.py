"""The impact of a change: what each cluster's teams, networks and nodes gain, lose and suffer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import chain

from trainyard.change.impact.affected import JobsChange
from trainyard.change.impact.amounts import (
    CohortChange,
    MaintenanceChange,
    OrderChange,
    PayerChange,
    PoolChange,
    QuotaChange,
    Transfer,
)
from trainyard.change.impact.duties import FileChange, HandChange, NodeWork, ServerChange
from trainyard.change.impact.rights import AccessChange, RoleChange, TermChange, ViewerChange
from trainyard.change.impact.states import (
    AlertChange,
    ClaimChange,
    DeadlineChange,
    FactChange,
    LogChange,
    PriorityChange,
    RegulationChange,
    WaitingChange,
)
from trainyard.change.impact.upgrade import Upgrade
from trainyard.change.objects import Objects
from trainyard.model.differences import Difference
from trainyard.model.identity import Identity
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Sides:
    """One cluster before and after the change.

    Args:
        name: of the cluster.
        old, new: the cluster as the profiles describe it; None where it has no profile, or where
            the old profiles can't be resolved any more.
        before: objects of the base's committed tree.
        after: objects that the profiles make now.
        renamed: old name of a team -> its new name.
        files: what becomes of each generated file that differs, by its path below the folder.
    """

    name: str
    old: Site | None
    new: Site | None
    before: Objects
    after: Objects
    renamed: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FileChange] = field(default_factory=dict)

    @property
    def in_use(self) -> Sides:
        """Both sides without nodes in maintenance."""
        old, new = (site.in_use if site else None for site in (self.old, self.new))
        return replace(self, old=old, new=new)

    @property
    def are_comparable(self) -> bool:
        """Whether the numbers of both sides are known: old profiles may be unreadable."""
        return self.old is not None or not self.before

    @property
    def tenants(self) -> tuple[dict[str, Tenant], dict[str, Tenant]]:
        """Teams before and after, by their names after the change."""
        before = {}
        for tenant in self.old.tenants if self.old else ():
            before[self.renamed.get(tenant.name, tenant.name)] = tenant
        after = self.new.tenants if self.new else ()
        return before, {tenant.name: tenant for tenant in after}

    def kept_tenants(self) -> Iterator[tuple[str, Tenant, Tenant]]:
        """Yield each team on both sides: its name after the change, before, after; sorted."""
        before, after = self.tenants
        for name in sorted(before.keys() & after.keys()):
            yield name, before[name], after[name]


class Effect(IntEnum):
    """Effect of a change on what runs, the worst last."""

    RECREATES = 1
    """Objects are deleted and created again."""
    UNCOUNTS = 2
    """Jobs run on outside of the quota, so that others are admitted to their nodes."""
    RECLAIMS = 3
    """Jobs run until others need their nodes, and are then stopped and queued again."""
    EVICTS = 4
    """Jobs are stopped and queued again."""
    UNLOCKS = 5
    """What waited for a person to sync it is applied at once, and may empty or reboot nodes."""
    DRAINS = 6
    """Nodes are emptied, some at a time."""
    REBOOTS = 7
    """Nodes are emptied and rebooted."""
    DELETES = 8
    """Data or namespaces go, at once or with a claim; a revert does not bring them back."""


@dataclass(frozen=True, slots=True)
class NamespaceChange:
    """A namespace that is added or removed.

    Args:
        team: whose it is; empty for the platform's.
    """

    namespace: str
    team: str
    added: bool


@dataclass(frozen=True, slots=True)
class PathChange:
    """A network path that is opened or closed in some namespaces.

    Args:
        namespaces: whose pods it concerns, sorted.
        path: in one line, e.g. ``egress to 203.0.113.0/28, TCP 443``.
    """

    namespaces: tuple[str, ...]
    opened: bool
    path: str


@dataclass(frozen=True, slots=True)
class RuntimeChange:
    """A runtime that changes in the same way for some namespaces, on some nodes.

    Args:
        runtime: with its version, e.g. ``openmpi-v1``.
        nodes: hardware profiles or classes of node, sorted.
        objects: names of the ClusterTrainingRuntimes, sorted.
        change: ``added`` or ``retired`` for these namespaces; for all that may use it
            ``deprecated until DATE``, ``supported again`` or ``changed``.
        details: one line each, e.g. ``image ...@sha256:1 -> ...@sha256:2``; of a version that is
            added, what differs from the version that it follows; why it is retired.
        spaces: namespaces of teams, without the prefix of all of them; sorted.
    """

    runtime: str
    nodes: tuple[str, ...]
    objects: tuple[str, ...]
    change: str
    details: tuple[str, ...]
    spaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that is created, changed, recreated, deleted or left behind.

    Args:
        change: one of these words; an object that is recreated is in no other list, under its new
            name. What is left behind leaves the tree and stays on the cluster.
        scope: ``stateless``, ``stateful`` (its deletion loses data), ``cluster-wide``, or
            ``artifact``: a file that nothing syncs.
        unit: sync unit that has it, or had it.
        reason: why it is deleted, left behind, recreated or in another unit; else empty.
        fields: what differs, sorted by path.
    """

    identity: Identity
    change: str
    scope: str
    unit: str
    reason: str
    fields: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Disruption:
    """What runs and is disturbed, once for each cause.

    Args:
        cause: the edit, e.g. ``MTU of fabric ib 9000 -> 4200``.
        consequence, source, lost: as the reaction has them.
        pool: whose nodes are touched; empty when none is, or those of several pools.
        nodes: at most touched.
        pace: of emptied nodes, e.g. ``one after the other`` or ``all at once``; else empty.
        teams: whose jobs or data are touched, sorted.
        gpus: running GPUs at most touched.
    """

    effect: Effect
    cause: str
    consequence: str
    source: str
    pool: str
    nodes: int
    pace: str
    teams: tuple[str, ...]
    gpus: int
    lost: str = ""

    @property
    def size(self) -> tuple[int, int, int]:
        """How bad it is: by effect, then by GPUs and nodes."""
        return self.effect, self.gpus, self.nodes


@dataclass(frozen=True, slots=True)
class Rename:
    """A team that has a new name.

    Args:
        folder: its folder on NFS servers and in secret stores.
        kept: groups and accounts whose roles are the same under the new name, sorted.
    """

    before: str
    after: str
    folder: str = ""
    kept: tuple[str, ...] = ()


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
    runtimes: tuple[RuntimeChange, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    hands: tuple[HandChange, ...] = ()
    node_work: tuple[NodeWork, ...] = ()
    server: ServerChange | None = None
    facts: tuple[FactChange, ...] = ()
    jobs: JobsChange | None = None


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
