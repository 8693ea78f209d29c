"""Resolve a team on one cluster: its queues, namespaces and networks there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from trainyard.diagnostics import Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.component import Component
from trainyard.model.fabric import RailFabric
from trainyard.model.ids import Ids
from trainyard.model.named import by_name
from trainyard.model.network import AddressPool, Network
from trainyard.model.priority import Priority
from trainyard.model.quantity import parse_bytes
from trainyard.model.queue import Flavor, Queue
from trainyard.model.runtime import Runtime
from trainyard.model.space import Grant, Space
from trainyard.model.storage import (
    Allowance,
    Claim,
    Storage,
    StoredSecret,
    bucket_secret,
    pull_secret,
)
from trainyard.model.team import Allocation, StorageRequest, Team, TeamSpace
from trainyard.model.tenant import Tenant
from trainyard.resolve.findings import Resolving
from trainyard.resolve.launch import Held, resolve_grants
from trainyard.resolve.ledger import Allocations
from trainyard.resolve.references import find
from trainyard.yaml_io.source import Source

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KnownHere:
    """A cluster, and everything that a team's profile may name there.

    Args:
        runtimes, components: by name; None for one that can't be resolved.
        ids: of the namespaces of each cluster.
    """

    cluster: Cluster
    runtimes: Mapping[str, Runtime | None]
    allocations: Allocations
    ids: Mapping[str, tuple[Ids, ...]]
    components: Mapping[str, Component | None]


@dataclass(frozen=True, slots=True)
class _Shared:
    """Values that all namespaces of a team on one cluster have."""

    team: Team
    cluster: Cluster
    held: Held
    queues: tuple[Queue, ...]
    runtimes: tuple[Runtime, ...]
    address_pools: tuple[AddressPool, ...]


def resolve_tenant(team: Team, source: Source, known: KnownHere) -> Resolving[Tenant]:
    """Return a team on a cluster without the names that refer to nothing there."""
    cluster = known.cluster
    held = _held(team, cluster)
    if team.cohort:
        cohorts = by_name(cluster.cohorts)
        kind, at = f"cohort of cluster {cluster.name}", team.at / "cohort"
        # A team has one cohort, which each of its clusters must have.
        add = f"Or add `{team.cohort}` to the cluster's `cohorts`."
        yield from find(kind, team.cohort, cohorts, at, instead=add)
    shared = _Shared(
        team,
        cluster,
        held,
        queues=tuple(_queues(team, cluster, held)),
        runtimes=_resolved(team.runtimes, known.runtimes),
        address_pools=tuple(_address_pools(team, cluster, held, known.allocations)),
    )
    ids = {each.namespace: each for each in known.ids.get(cluster.name, ())}
    spaces = []
    for space in team.spaces:
        fields = source.value.get("spaces", {})[space.name] if space.name else source.value
        spaces.append((yield from _space(space, fields, shared, ids)))
    return Tenant(
        team=team,
        cluster=cluster,
        queues=shared.queues,
        spaces=tuple(spaces),
        address_pools=shared.address_pools,
        components=_resolved(team.components, known.components),
    )


def _held(team: Team, cluster: Cluster) -> Held:
    pools = by_name(cluster.pools)
    return tuple((pools[quota.pool], quota) for quota in team.quotas_on(cluster.name))


def _resolved(names: Iterable[str], known: Mapping[str, T | None]) -> tuple[T, ...]:
    """Return what names refer to, without those that refer to nothing."""
    return tuple(value for name in names if (value := known.get(name)) is not None)


def _space(
    space: TeamSpace, fields: Mapping[str, Any], shared: _Shared, ids: Mapping[str, Ids]
) -> Resolving[Space]:
    team, cluster = shared.team, shared.cluster
    namespace = space.namespace
    grants = resolve_grants(space, cluster, shared.held, shared.runtimes, namespace)
    requests = yield from _requests(space, cluster, fields.get("storage", {}))
    secrets = yield from _pull_secrets(cluster, namespace, grants)
    claims = []
    for storage, request in requests:
        if storage.kind == "s3":
            secrets.append(bucket_secret(team.folder, namespace, request, storage))
        else:
            claims.append(Claim(cluster.name, team.name, team.folder, namespace, storage, request))
    if "priorities" in fields:
        # A further namespace inherits the team's, which are reported there.
        yield from _unknown_priorities(space, cluster)
    return Space(
        team=team,
        profile=space,
        cluster=cluster,
        queues=shared.queues,
        grants=grants,
        priorities=_priorities(space, cluster),
        networks=tuple(Network(namespace, pool, cluster.release) for pool in shared.address_pools),
        claims=tuple(claims),
        allowances=(yield from _allowances(space, cluster, fields.get("claims", {}))),
        secrets=tuple(sorted(secrets, key=lambda secret: secret.name)),
        ids=ids.get(namespace),
    )


def _queues(team: Team, cluster: Cluster, held: Held) -> Iterator[Queue]:
    queues: dict[str, list[Flavor]] = defaultdict(list)
    for pool, quota in sorted(held, key=lambda owned: (owned[0].preference, owned[0].name)):
        queues[pool.hardware.node_class].append(Flavor(pool, quota))
    for node_class, flavors in sorted(queues.items()):
        yield Queue(team, cluster, node_class, tuple(flavors))


def _address_pools(
    team: Team, cluster: Cluster, held: Held, allocations: Allocations
) -> Iterator[AddressPool]:
    rails = {pool.rail_fabric.name: pool.rail_fabric for pool, _ in held if pool.rail_fabric}
    for fabric in rails.values():
        allocation = allocations.get((cluster.name, fabric.name, team.name))
        if allocation is not None:
            yield from _rails(team, fabric, cluster, allocation)


def _rails(
    team: Team, fabric: RailFabric, cluster: Cluster, allocation: Allocation
) -> Iterator[AddressPool]:
    """Yield a team's addresses on each rail of a fabric."""
    rails = cluster.rails_of(fabric)
    for rail in range(rails):
        yield AddressPool(team.name, fabric, rail, rails, cluster.pools_on(fabric), allocation)


def _unknown_priorities(space: TeamSpace, cluster: Cluster) -> Resolving[None]:
    """Yield the classes of a namespace that the cluster does not have."""
    known = by_name(cluster.priorities)
    for i, name in enumerate(space.priorities):
        at = space.at / "priorities" / i
        yield from find(f"priority of cluster {cluster.name}", name, known, at)


def _priorities(space: TeamSpace, cluster: Cluster) -> tuple[Priority, ...]:
    """Return the classes that jobs of the namespace may use, lowest value first."""
    if not space.priorities:
        return cluster.priorities
    return tuple(priority for priority in cluster.priorities if priority.name in space.priorities)


def _requests(
    space: TeamSpace, cluster: Cluster, asked: Mapping[str, Any]
) -> Resolving[list[tuple[Storage, StorageRequest]]]:
    """Return the storage that a namespace asks for, with what it asks."""
    requests = []
    for name, amount in sorted(asked.items()):
        at = space.at / "storage" / name
        storage = yield from _storage(name, cluster, at)
        if storage is not None:
            requests.append((storage, _request(storage, amount, at)))
    return requests


def _allowances(
    space: TeamSpace, cluster: Cluster, asked: Mapping[str, str]
) -> Resolving[tuple[Allowance, ...]]:
    allowances = []
    for name, size in sorted(asked.items()):
        at = space.at / "claims" / name
        storage = yield from _storage(name, cluster, at)
        if storage is not None:
            allowances.append(Allowance(storage, at, parse_bytes(size)))
    return tuple(allowances)


def _storage(name: str, cluster: Cluster, at: Pointer) -> Resolving[Storage | None]:
    kind = f"storage of cluster {cluster.name}"
    return (yield from find(kind, name, by_name(cluster.storage), at.key()))


def _request(storage: Storage, asked: Any, at: Pointer) -> StorageRequest:
    """Return what is asked of a storage.

    It is empty in a form that does not fit the kind of storage, which a rule reports.
    """
    if isinstance(asked, dict):
        size = parse_bytes(asked["size"])
        return StorageRequest(storage.name, at, size=size, volume=asked["volume"])
    if storage.kind == "s3":
        return StorageRequest(storage.name, at, bucket=asked)
    try:
        return StorageRequest(storage.name, at, size=parse_bytes(asked))
    except ValueError:
        return StorageRequest(storage.name, at)


def _pull_secrets(
    cluster: Cluster, namespace: str, grants: tuple[Grant, ...]
) -> Resolving[list[StoredSecret]]:
    """Return the pull secrets that the runtimes of a namespace name."""
    secrets = []
    wanted = {grant.launch.runtime.pull_secret: grant.launch.runtime.at for grant in grants}
    wanted.pop("", None)
    kind, known = f"pull secret of cluster {cluster.name}", by_name(cluster.pull_secrets)
    for name, runtime in sorted(wanted.items()):
        secret = yield from find(kind, name, known, runtime / "pullSecret")
        if secret is not None:
            secrets.append(pull_secret(namespace, secret))
    return secrets
