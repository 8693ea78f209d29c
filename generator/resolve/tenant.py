"""A team on a cluster: its queues, launches, networks and storage there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from generator.diagnostics import Pointer
from generator.dialect.source import Source
from generator.model import names
from generator.model.cluster import Cluster
from generator.model.component import Component
from generator.model.launch import Launch
from generator.model.network import Network
from generator.model.pool import Pool
from generator.model.quantity import parse_bytes
from generator.model.queue import Flavor, Queue
from generator.model.runtime import Runtime
from generator.model.storage import Claim, Storage, StoredSecret, bucket_secret, pull_secret
from generator.model.team import Allocation, Quota, StorageRequest, Team
from generator.model.tenant import Tenant
from generator.resolve.references import Found, find

Allocations = Mapping[tuple[str, str, str], Allocation]
"""(cluster, fabric, team) -> what it holds."""


def resolve_tenant(
    team: Team,
    cluster: Cluster,
    source: Source,
    known: tuple[Mapping[str, Runtime], Allocations, Mapping[str, Component]],
    found: Found,
) -> Tenant:
    """Return a team on a cluster; names that lead nowhere are reported."""
    runtimes, allocations, components = known
    pools = {pool.name: pool for pool in cluster.pools}
    held = tuple((pools[quota.pool], quota) for quota in team.quotas if quota.cluster == cluster.name)
    launches = tuple(_launches(team, cluster, held, runtimes))
    requests = tuple(_requests(team, cluster, source, found))
    if team.cohort:
        find("cohort", team.cohort, {each.name: each for each in cluster.cohorts}, team.at / "cohort", found)
    return Tenant(
        team=team,
        cluster=cluster,
        queues=tuple(_queues(team, cluster, held)),
        launches=launches,
        priorities=tuple(_priorities(team, cluster, found)),
        networks=tuple(_networks(team, cluster, held, allocations)),
        claims=tuple(
            Claim(cluster.name, team.name, names.namespace(team.name), storage, request)
            for storage, request in requests
            if storage.kind != "s3"
        ),
        secrets=tuple(sorted(_secrets(team, cluster, launches, requests, found), key=lambda secret: secret.name)),
        components=tuple(components[name] for name in team.components if name in components),
    )


def _queues(team: Team, cluster: Cluster, held: tuple[tuple[Pool, Quota], ...]) -> Iterator[Queue]:
    for node_class in sorted({pool.hardware.node_class for pool, _ in held}):
        flavors = (Flavor(pool, quota) for pool, quota in held if pool.hardware.node_class == node_class)
        yield Queue(team, cluster, node_class, tuple(flavors))


def _launches(
    team: Team,
    cluster: Cluster,
    held: tuple[tuple[Pool, Quota], ...],
    runtimes: Mapping[str, Runtime],
) -> Iterator[Launch]:
    for runtime in (runtimes[name] for name in team.runtimes if name in runtimes):
        for pool in {pool.hardware.name: pool for pool, _ in held}.values():
            if pool.hardware.name in runtime.hardware:
                yield Launch(runtime, pool.hardware, cluster.release, pool.topology, cluster.settings.domain)


def _networks(
    team: Team, cluster: Cluster, held: tuple[tuple[Pool, Quota], ...], allocations: Allocations
) -> Iterator[Network]:
    for pool in {pool.hardware.name: pool for pool, _ in held}.values():
        if pool.fabric is None:
            continue
        allocation = allocations.get((cluster.name, pool.fabric.name, team.name))
        if allocation is not None:
            for rail in range(len(pool.hardware.rails)):
                prefix = cluster.release.resource_prefix
                yield Network(team.name, pool.fabric, pool.hardware, rail, allocation, prefix)


def _priorities(team: Team, cluster: Cluster, found: Found) -> Iterator[str]:
    """Yield the classes that the team may use here, lowest value first."""
    known = {priority.name: priority for priority in cluster.priorities}
    for i, name in enumerate(team.priorities):
        find("priority", name, known, team.at / "priorities" / i, found)
    yield from (name for name in known if name in (team.priorities or known))


def _requests(team: Team, cluster: Cluster, source: Source, found: Found) -> Iterator[tuple[Storage, StorageRequest]]:
    known = {storage.name: storage for storage in cluster.storage}
    for name, asked in sorted(source.value.get("storage", {}).items()):
        at = team.at / "storage" / name
        storage = find("storage", name, known, at.key(), found)
        if storage is not None:
            yield storage, _request(storage, asked, at)


def _request(storage: Storage, asked: Any, at: Pointer) -> StorageRequest:
    """Return what is asked; a form that doesn't fit the kind of storage yields an empty one, which a rule reports."""
    if isinstance(asked, dict):
        return StorageRequest(storage.name, at, size=parse_bytes(asked["size"]), volume=asked["volume"])
    if storage.kind == "s3":
        return StorageRequest(storage.name, at, bucket=asked)
    try:
        return StorageRequest(storage.name, at, size=parse_bytes(asked))
    except ValueError:
        return StorageRequest(storage.name, at)


def _secrets(
    team: Team,
    cluster: Cluster,
    launches: tuple[Launch, ...],
    requests: tuple[tuple[Storage, StorageRequest], ...],
    found: Found,
) -> Iterator[StoredSecret]:
    known = {secret.name: secret for secret in cluster.pull_secrets}
    wanted = {launch.runtime.pull_secret: launch.runtime for launch in launches if launch.runtime.pull_secret}
    for name, runtime in sorted(wanted.items()):
        secret = find(f"pull secret of cluster {cluster.name}", name, known, runtime.at / "pullSecret", found)
        if secret is not None:
            yield pull_secret(names.namespace(team.name), secret)
    for storage, request in requests:
        if storage.kind == "s3":
            yield bucket_secret(team.name, request, storage)
