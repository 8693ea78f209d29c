"""Resolve the runtimes that a namespace's jobs may use, and the largest job with each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from trainyard.model.cluster import Cluster
from trainyard.model.hardware import Hardware, least
from trainyard.model.launch import Launch
from trainyard.model.named import by_name
from trainyard.model.pool import Pool
from trainyard.model.runtime import Runtime
from trainyard.model.space import Grant
from trainyard.model.team import Quota, TeamSpace

PoolQuota: TypeAlias = tuple[Pool, Quota]
"""A team's quota on a pool."""

Held: TypeAlias = tuple[PoolQuota, ...]
"""A team's quota on the pools of one cluster."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A namespace, and the team's quota on the pools of its cluster."""

    space: TeamSpace
    cluster: Cluster
    held: Held
    namespace: str


def resolve_grants(
    space: TeamSpace, cluster: Cluster, held: Held, runtimes: tuple[Runtime, ...], namespace: str
) -> tuple[Grant, ...]:
    """Return the runtimes of a namespace, on each kind of node, and on several in one queue.

    A runtime whose smallest job does not fit is left out.

    Args:
        space: the namespace, from its profile.
        cluster: where it is.
        held: the team's quota.
        runtimes: that the team lists.
        namespace: its name on the cluster.
    """
    place = _Place(space, cluster, held, namespace)
    grants: list[Grant] = []
    for runtime in runtimes:
        offered = _grants(runtime, place)
        grants += [grant for grant in offered if grant.nodes >= runtime.smallest_job]
    return tuple(grants)


def _grants(runtime: Runtime, place: _Place) -> Iterator[Grant]:
    whole: dict[str, list[PoolQuota]] = defaultdict(list)
    shares: list[PoolQuota] = []
    for pool, quota in place.held:
        if pool.hardware.name in runtime.hardware:
            (shares if quota.is_share else whole[pool.hardware.name]).append((pool, quota))
    for held in whole.values():
        first, _ = held[0]
        yield _whole(_launch(runtime, first.hardware, first, place), held, place)
    yield from _on_any_kind(runtime, place)
    for pool, quota in shares:
        if grant := _share(pool, quota, runtime, place):
            yield grant


def _on_any_kind(runtime: Runtime, place: _Place) -> Iterator[Grant]:
    """Yield the grant of whole nodes of any kind in a queue, where the runtime may exchange them.

    All pools of the queue take part, since Kueue may choose any of its flavors for a pod that
    names no node.
    """
    queues: dict[str, list[PoolQuota]] = defaultdict(list)
    for pool, quota in place.held:
        queues[pool.hardware.node_class].append((pool, quota))
    for node_class, queue in sorted(queues.items()):
        kinds = _interchangeable(queue, place.cluster)
        if kinds and kinds.keys() <= set(runtime.hardware):
            hardware = least(node_class, tuple(kinds.values()))
            launch = _launch(runtime, hardware, queue[0][0], place)
            if launch.is_placed_as_one:
                yield _whole(launch, queue, place)


def _whole(launch: Launch, held: Sequence[PoolQuota], place: _Place) -> Grant:
    """Return the grant of whole nodes of one pool."""
    maximum = max(int(quota.maximum) for _, quota in held)
    return Grant(launch, min(place.space.largest_job, launch.most_nodes, maximum))


def _share(pool: Pool, quota: Quota, runtime: Runtime, place: _Place) -> Grant | None:
    """Return the grant of a share of a node: one job, whose pods ask for equal parts.

    A larger job takes borrowed parts, and no more nodes than any in the namespace. A rule reports
    parts that can't be divided.
    """
    pods = runtime.smallest_job
    if quota.own < pods or quota.own % pods or quota.own >= quota.per_node:
        return None
    part = quota.nodes / pods
    largest = int(place.space.largest_job / part)
    most = min(int(quota.maximum / part), runtime.max_nodes, largest)
    return Grant(_launch(runtime, pool.hardware, pool, place, part), most)


def _interchangeable(queue: Sequence[PoolQuota], cluster: Cluster) -> dict[str, Hardware]:
    """Return the kinds of node that one pod template may exchange in a queue of whole nodes.

    There are none in a queue with one kind. They are all such kinds of the cluster, so that every
    team gets the same runtime under the name.
    """
    demands = _demands(queue[0][0])
    kinds = set()
    for pool, quota in queue:
        if quota.is_share or _demands(pool) != demands:
            return {}
        kinds.add(pool.hardware.name)
    if len(kinds) == 1:
        return {}
    return by_name(pool.hardware for pool in cluster.pools if _demands(pool) == demands)


def _demands(pool: Pool) -> tuple[str, str, str, bool, int, str, int]:
    """Return what a pod template demands of a pool.

    Architecture, fabric, the level to share, NVLink between nodes, the number of ports, and
    resource and number of GPUs.
    """
    kind = pool.hardware
    fabric = pool.fabric.name if pool.fabric else ""
    level = pool.topology.preferred_level if pool.topology else ""
    gpu = kind.gpu.resource if kind.gpu else ""
    nvlink = pool.has_nvlink
    return (kind.architecture, fabric, level, nvlink, pool.ports, gpu, kind.gpus)


def _launch(
    runtime: Runtime,
    hardware: Hardware,
    pool: Pool,
    place: _Place,
    part: Fraction = Fraction(1),
) -> Launch:
    cluster = place.cluster
    attached = pool.rail_fabric if runtime.uses_rdma else None
    return Launch(
        runtime=runtime,
        hardware=hardware,
        fabric=pool.fabric,
        topology=pool.topology,
        has_nvlink=pool.has_nvlink,
        release=cluster.release,
        part=part,
        owner=place.namespace if attached and attached.link.operator_networks else "",
        domain=cluster.settings.domain,
        fips=cluster.fips,
    )
