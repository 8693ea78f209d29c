"""A cluster as its profile tells it: pools of nodes, fabrics, cohorts, priorities, storage, ways out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from generator.diagnostics import Pointer
from generator.model.hardware import Hardware
from generator.model.release import Release


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every cluster and team (``trainyard.yaml``).

    Args:
        path: folder of the generated tree inside the repository.
    """

    at: Pointer
    domain: str
    repository: str
    branch: str
    path: str


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network between the nodes' rails.

    Args:
        first_partition, last_partition: InfiniBand pkeys that teams may be given, inclusive.
        addresses: range that teams' blocks come from.
        block: prefix length of one team's block.
        levels: node labels from the top of the topology down; the host itself is added.
        leaf_nodes: nodes below one switch of the lowest level.
    """

    name: str
    at: Pointer
    link: str
    first_partition: int
    last_partition: int
    addresses: IPv4Network
    block: int
    levels: tuple[str, ...]
    leaf_nodes: int

    @property
    def topology_levels(self) -> tuple[dict[str, str], ...]:
        """Levels of the Kueue Topology; the host name may only stand last."""
        return tuple({"nodeLabel": label} for label in (*self.levels, "kubernetes.io/hostname"))


@dataclass(frozen=True, slots=True)
class Pool:
    """N nodes of one hardware profile in one cluster; ``reserve`` of them are promised to nobody."""

    name: str
    at: Pointer
    hardware: Hardware
    fabric: Fabric | None
    nodes: int
    reserve: int

    @property
    def promised(self) -> int:
        """Nodes that teams may be given."""
        return self.nodes - self.reserve

    @property
    def topology(self) -> str:
        """Lowest named level, asked for as preferred: ranks that talk stay below one switch when they can."""
        return self.fabric.levels[-1] if self.fabric and self.fabric.levels else "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class Cohort:
    """Teams that lend to each other; a child borrows from its parent's side too."""

    name: str
    at: Pointer
    parent: str
    weight: int


@dataclass(frozen=True, slots=True)
class Priority:
    """A WorkloadPriorityClass."""

    name: str
    at: Pointer
    value: int


@dataclass(frozen=True, slots=True)
class Storage:
    """A kind of storage that teams may ask for.

    Args:
        kind: ``nfs``, ``class``, ``s3`` or ``adopted`` (a claim that exists already).
        server, path: of an NFS export; ``path`` is also where an S3 secret lies in its store.
        storage_class: of ``class`` and ``adopted``.
        endpoint, secret_store: of ``s3``.
    """

    name: str
    at: Pointer
    kind: str
    server: str = ""
    path: str = ""
    storage_class: str = ""
    endpoint: str = ""
    secret_store: str = ""


@dataclass(frozen=True, slots=True)
class PullSecret:
    """An image pull secret, by reference into a secret store."""

    name: str
    at: Pointer
    secret_store: str
    path: str


@dataclass(frozen=True, slots=True)
class Egress:
    """A way out of the teams' namespaces that the platform declares.

    Args:
        cidrs, namespaces: where to.
        ports: TCP ports at the receiving pod or host.
        source: ``jobs``, ``workspaces`` (workbenches and pipelines) or ``all``.
    """

    name: str
    at: Pointer
    cidrs: tuple[str, ...]
    namespaces: tuple[str, ...]
    ports: tuple[int, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster, complete.

    Args:
        networks: the cluster's own address ranges by name (pods, services, machines).
        operators, auditors: groups with the platform-wide roles.
        external: ``Kind/name`` -> owner of what the tree needs and does not define, the release's included.
    """

    name: str
    at: Pointer
    settings: Settings
    release: Release
    server: str
    argocd_namespace: str
    versions: Mapping[str, str]
    pools: tuple[Pool, ...]
    fabrics: tuple[Fabric, ...]
    cohorts: tuple[Cohort, ...]
    priorities: tuple[Priority, ...]
    storage: tuple[Storage, ...]
    pull_secrets: tuple[PullSecret, ...]
    egress: tuple[Egress, ...]
    networks: Mapping[str, IPv4Network]
    operators: tuple[str, ...]
    auditors: tuple[str, ...]
    frameworks: tuple[str, ...]
    external: Mapping[str, str]

    @property
    def file(self) -> str:
        """The profile file."""
        return self.at.file
