"""Runtimes on the nodes that a team has: which of them a namespace's jobs may use, and how large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from trainyard.model.cluster import Cluster
from trainyard.model.hardware import Hardware, least
from trainyard.model.launch import Launch
from trainyard.model.pool import Pool
from trainyard.model.runtime import Runtime
from trainyard.model.space import Grant
from trainyard.model.team import Quota, TeamSpace

Held = tuple[tuple[Pool, Quota], ...]
"""A team's quota on pools of one cluster."""


@dataclass(frozen=True, slots=True)
class _Place:
    cluster: Cluster
    namespace: str


def resolve_grants(
    space: TeamSpace, cluster: Cluster, held: Held, runtimes: tuple[Runtime, ...], namespace: str
) -> tuple[Grant, ...]:
    """Return every runtime on every kind of node where its smallest job fits, and on any of several in a queue.

    Args:
        space: the namespace, as its profile tells it.
        cluster: where it is.
        held: the team's quota.
        runtimes: that the team lists.
        namespace: its name on the cluster.
    """
    place = _Place(cluster, namespace)
    grants = (grant for runtime in runtimes for grant in _grants(space, held, runtime, place))
    return tuple(
        grant for grant in grants if grant.nodes >= grant.launch.runtime.launcher.smallest_job
    )


def _grants(space: TeamSpace, held: Held, runtime: Runtime, place: _Place) -> Iterator[Grant]:
    usable = tuple((pool, quota) for pool, quota in held if pool.hardware.name in runtime.hardware)
    whole = tuple(each for each in usable if not each[1].is_share)
    for hardware in {pool.hardware.name: pool.hardware for pool, _ in whole}.values():
        on = tuple(each for each in whole if each[0].hardware == hardware)
        yield _whole(space, _launch(runtime, hardware, on[0][0], place), on)
    for any_of, kinds in _interchangeable(place.cluster, held, runtime):
        launch = _launch(runtime, least(kinds[0].node_class, kinds), any_of[0][0], place)
        if launch.is_placed_as_one:
            yield _whole(space, launch, any_of)
    for pool, quota in usable:
        if quota.is_share and (grant := _share(space, (pool, quota), runtime, place)):
            yield grant


def _whole(space: TeamSpace, launch: Launch, on: Held) -> Grant:
    """A job has whole nodes of one pool."""
    maximum = max(int(quota.maximum) for _, quota in on)
    return Grant(launch, min(space.largest_job, launch.runtime.max_nodes, maximum))


def _share(
    space: TeamSpace, on: tuple[Pool, Quota], runtime: Runtime, place: _Place
) -> Grant | None:
    """A share of a node is one job: each of its pods asks for an equal part.

    A larger job takes borrowed GPUs, and no more nodes than any in the namespace. A rule tells of
    GPUs that can't be divided.
    """
    pool, quota = on
    pods = runtime.launcher.smallest_job
    if quota.gpus < pods or quota.gpus % pods or quota.gpus >= quota.per_node:
        return None
    part = quota.nodes / pods
    most = min(int(quota.maximum / part), runtime.max_nodes, int(space.largest_job / part))
    return Grant(_launch(runtime, pool.hardware, pool, place, part), most)


def _interchangeable(
    cluster: Cluster, held: Held, runtime: Runtime
) -> Iterator[tuple[Held, tuple[Hardware, ...]]]:
    """Yield the pools of each queue with several kinds of node that any pod of the runtime fits, and those kinds.

    All of the queue's pools, since Kueue may choose any flavor of it for a pod that names no node.
    The kinds are all of the cluster's that are alike, so that every team gets the same runtime
    under the name.
    """
    for node_class in sorted({pool.hardware.node_class for pool, _ in held}):
        queue = tuple(each for each in held if each[0].hardware.node_class == node_class)
        alike = {_interchange(pool) for pool, _ in queue}
        kinds = {
            pool.hardware.name: pool.hardware
            for pool in cluster.pools
            if _interchange(pool) in alike
        }
        whole = not any(quota.is_share for _, quota in queue)
        several = len({pool.hardware.name for pool, _ in queue}) > 1
        if several and whole and len(alike) == 1 and kinds.keys() <= set(runtime.hardware):
            yield queue, tuple(kinds.values())


def _interchange(pool: Pool) -> tuple[str, int, str, int]:
    """Return what must be the same of two pools for one pod template to fit both: fabric, rails, and GPUs."""
    gpu = pool.hardware.gpu
    fabric = pool.fabric.name if pool.fabric else ""
    return (fabric, len(pool.rails), gpu.resource if gpu else "", pool.hardware.gpus)


def _launch(
    runtime: Runtime,
    hardware: Hardware,
    pool: Pool,
    place: _Place,
    part: Fraction = Fraction(1),
) -> Launch:
    cluster = place.cluster
    attached = pool.fabric if runtime.uses_rdma else None
    return Launch(
        runtime=runtime,
        hardware=hardware,
        fabric=pool.fabric,
        release=cluster.release,
        part=part,
        owner=place.namespace if attached and attached.link.operator_networks else "",
        domain=cluster.settings.domain,
        fips=cluster.fips,
    )
