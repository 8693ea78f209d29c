"""A team on a cluster: its queues, namespaces and networks there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cluster import Cluster, Priority
from trainyard.model.component import Component
from trainyard.model.ids import Ids
from trainyard.model.network import AddressPool, Network
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
from trainyard.resolve.launch import Held, resolve_grants
from trainyard.resolve.references import Found, find
from trainyard.yaml_io.source import Source

Allocations = Mapping[tuple[str, str, str], Allocation]
"""(cluster, fabric, team) -> what it holds."""


def resolve_tenant(
    team: Team,
    cluster: Cluster,
    source: Source,
    known: tuple[
        Mapping[str, Runtime | None], Allocations, Mapping[str, Ids], Mapping[str, Component | None]
    ],
    found: Found,
) -> Tenant:
    """Return a team on a cluster; names that lead nowhere are reported."""
    runtimes, allocations, ids, components = known
    pools = {pool.name: pool for pool in cluster.pools}
    held = tuple(
        (pools[quota.pool], quota) for quota in team.quotas if quota.cluster == cluster.name
    )
    usable = tuple(runtime for name in team.runtimes if (runtime := runtimes[name]))
    address_pools = tuple(_address_pools(team, cluster, held, allocations))
    if team.cohort:
        cohorts = {each.name: each for each in cluster.cohorts}
        find(f"cohort of cluster {cluster.name}", team.cohort, cohorts, team.at / "cohort", found)
    queues = tuple(_queues(team, cluster, held))
    return Tenant(
        team=team,
        cluster=cluster,
        queues=queues,
        spaces=tuple(
            _space(
                team, space, cluster, (queues, held, usable, address_pools, ids), (source, found)
            )
            for space in team.spaces
        ),
        address_pools=address_pools,
        components=tuple(
            component for name in team.components if (component := components.get(name))
        ),
    )


def _space(
    team: Team,
    space: TeamSpace,
    cluster: Cluster,
    shared: tuple[
        tuple[Queue, ...], Held, tuple[Runtime, ...], tuple[AddressPool, ...], Mapping[str, Ids]
    ],
    context: tuple[Source, Found],
) -> Space:
    queues, held, runtimes, address_pools, ids = shared
    source, found = context
    namespace = names.namespace(team.name, space.name)
    inherited = team.spaces[0].priorities if space.name else None
    grants = resolve_grants(space, cluster, held, runtimes, namespace)
    asked = source.value.get("spaces", {})[space.name] if space.name else source.value
    requests = tuple(_requests(space, cluster, asked.get("storage", {}), found))
    pulls = _pull_secrets(cluster, namespace, grants, found)
    buckets = (
        bucket_secret(team.name, namespace, what, where)
        for where, what in requests
        if where.kind == "s3"
    )
    return Space(
        team=team,
        profile=space,
        cluster=cluster,
        queues=queues,
        grants=grants,
        # What a further namespace has from the team was told of there.
        priorities=tuple(
            _priorities(space, cluster, Found() if space.priorities == inherited else found)
        ),
        networks=tuple(Network(namespace, pool, cluster.release) for pool in address_pools),
        claims=tuple(
            Claim(cluster.name, team.name, namespace, storage, request)
            for storage, request in requests
            if storage.kind != "s3"
        ),
        allowances=tuple(_allowances(space, cluster, asked.get("claims", {}), found)),
        secrets=tuple(sorted((*pulls, *buckets), key=lambda secret: secret.name)),
        ids=ids.get(namespace),
    )


def _queues(team: Team, cluster: Cluster, held: Held) -> Iterator[Queue]:
    preferred = sorted(held, key=lambda each: (each[0].preference, each[0].name))
    for node_class in sorted({pool.hardware.node_class for pool, _ in held}):
        flavors = (
            Flavor(pool, quota)
            for pool, quota in preferred
            if pool.hardware.node_class == node_class
        )
        yield Queue(team, cluster, node_class, tuple(flavors))


def _address_pools(
    team: Team, cluster: Cluster, held: Held, allocations: Allocations
) -> Iterator[AddressPool]:
    for fabric in {pool.fabric.name: pool.fabric for pool, _ in held if pool.fabric}.values():
        allocation = allocations.get((cluster.name, fabric.name, team.name))
        pools = tuple(pool for pool in cluster.pools if pool.fabric == fabric)
        rails = max(len(pool.rails) for pool in pools)
        if allocation is not None:
            yield from (
                AddressPool(team.name, fabric, rail, rails, pools, allocation)
                for rail in range(rails)
            )


def _priorities(space: TeamSpace, cluster: Cluster, found: Found) -> Iterator[Priority]:
    """Yield the classes that jobs of the namespace may use, lowest value first."""
    known = {priority.name: priority for priority in cluster.priorities}
    for i, name in enumerate(space.priorities):
        find(f"priority of cluster {cluster.name}", name, known, space.at / "priorities" / i, found)
    yield from (priority for name, priority in known.items() if name in (space.priorities or known))


def _requests(
    space: TeamSpace, cluster: Cluster, asked: Mapping[str, Any], found: Found
) -> Iterator[tuple[Storage, StorageRequest]]:
    known = {storage.name: storage for storage in cluster.storage}
    for name, what in sorted(asked.items()):
        at = space.at / "storage" / name
        storage = find(f"storage of cluster {cluster.name}", name, known, at.key(), found)
        if storage is not None:
            yield storage, _request(storage, what, at)


def _allowances(
    space: TeamSpace, cluster: Cluster, asked: Mapping[str, str], found: Found
) -> Iterator[Allowance]:
    known = {storage.name: storage for storage in cluster.storage}
    for name, size in sorted(asked.items()):
        at = space.at / "claims" / name
        storage = find(f"storage of cluster {cluster.name}", name, known, at.key(), found)
        if storage is not None:
            yield Allowance(storage, at, parse_bytes(size))


def _request(storage: Storage, asked: Any, at: Pointer) -> StorageRequest:
    """Return what is asked; a form that doesn't fit the kind of storage yields an empty one, which a rule reports."""
    if isinstance(asked, dict):
        return StorageRequest(
            storage.name, at, size=parse_bytes(asked["size"]), volume=asked["volume"]
        )
    if storage.kind == "s3":
        return StorageRequest(storage.name, at, bucket=asked)
    try:
        return StorageRequest(storage.name, at, size=parse_bytes(asked))
    except ValueError:
        return StorageRequest(storage.name, at)


def _pull_secrets(
    cluster: Cluster, namespace: str, grants: tuple[Grant, ...], found: Found
) -> Iterator[StoredSecret]:
    known = {secret.name: secret for secret in cluster.pull_secrets}
    runtimes = (grant.launch.runtime for grant in grants)
    wanted = {runtime.pull_secret: runtime for runtime in runtimes if runtime.pull_secret}
    for name, runtime in sorted(wanted.items()):
        secret = find(
            f"pull secret of cluster {cluster.name}", name, known, runtime.at / "pullSecret", found
        )
        if secret is not None:
            yield pull_secret(namespace, secret)
