"""A team as its profile tells it: who, which runtimes, how many nodes, what storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from generator.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Account:
    """A service account in the team's namespace that acts as a subject.

    Args:
        role: ``admin``, ``user`` or ``viewer``.
        owner: who makes it; empty when Trainyard does.
    """

    name: str
    at: Pointer
    role: str
    owner: str


@dataclass(frozen=True, slots=True)
class Quota:
    """What a team may use of one pool of one cluster, in nodes.

    Args:
        nodes: its own.
        borrow: at most this many more while their owners don't need them.
        lend: of its own, at most this many to others.
    """

    cluster: str
    pool: str
    at: Pointer
    nodes: int
    borrow: int
    lend: int

    @property
    def reach(self) -> int:
        """Nodes that one job can have at the very most."""
        return self.nodes + self.borrow


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """What a team asks of one kind of storage.

    Args:
        size: bytes, for claims; 0 for S3.
        bucket: for S3.
        volume: PersistentVolume behind an adopted claim.
    """

    storage: str
    at: Pointer
    size: int = 0
    bucket: str = ""
    volume: str = ""


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a team holds on a fabric for ever."""

    at: Pointer
    partition: int
    addresses: IPv4Network


@dataclass(frozen=True, slots=True)
class Team:
    """One team, complete.

    Args:
        state: ``active``, ``draining`` (its queues evict and hold) or ``retired`` (a tombstone: nothing is made).
        groups: role -> groups of the identity provider.
        largest_job: nodes of the largest job that it may submit, launcher included.
        storage: names of the storage that it asks for.
        priorities: classes that it may use; empty for all of the cluster's.
        components: hand-written Kustomize Components that its sync unit lists.
    """

    name: str
    at: Pointer
    state: str
    contact: str
    groups: Mapping[str, tuple[str, ...]]
    accounts: tuple[Account, ...]
    runtimes: tuple[str, ...]
    cohort: str
    quotas: tuple[Quota, ...]
    largest_job: int
    storage: tuple[str, ...]
    priorities: tuple[str, ...]
    components: tuple[str, ...]
