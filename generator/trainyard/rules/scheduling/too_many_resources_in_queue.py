"""Count the resources of each queue, and report the pool with the first one too many."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.fabric import RailFabric
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor, Queue
from trainyard.rules._check import Check
from trainyard.rules.scheduling._limits import WHY_LIMITED, queues

RULE = Rule(
    id="scheduling/too-many-resources-in-queue",
    severity=Severity.ERROR,
    summary="""
        The pools of one queue have no more resources, rails included, than the release's Kueue
        allows.
    """,
    why=f"""
        {WHY_LIMITED} Kueue reports `ClusterQueueDoesNotExist` and logs
        `status.flavorsReservation[0].resources: Too many: 21: must have at most 16 items` (seen
        with Kueue 0.16.2).
    """,
    fix="""
        Give the fabrics of the queue's pools the same `resources`, so that their rails have the
        same names; or give the pools to different teams; or give fewer ports of the hardware the
        role `rail`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for queue in queues(platform):
        covered, most = len(queue.covered), queue.cluster.release.most_resources
        if covered > most:
            message = (
                f"the {queue.node_class} pools of team {queue.team.name} on cluster "
                f"{queue.cluster.name} have {covered} resources; a queue allows {most}"
            )
            flavor = _first_too_many(queue, most)
            hint, notes = _shared_names(queue, flavor.pool)
            cause = (
                f"{queue.node_class} queues on cluster {queue.cluster.name} have more than "
                f"{most} resources"
            )
            yield RULE.at(flavor.quota.at, message, hint=hint, notes=notes, cause=cause)


def _first_too_many(queue: Queue, most: int) -> Flavor:
    """Return the flavor with which a queue's resources exceed a maximum."""
    resources: set[str] = set()
    for flavor in queue.flavors:
        resources.update(flavor.pool.countable)
        if len(resources) > most:
            break
    return flavor


def _shared_names(queue: Queue, pool: Pool) -> tuple[str, list[Note]]:
    """Return the edit that gives the rails of two fabrics the same names, and notes about it.

    The hint is empty when the pool's rails have the names of the queue's other rails already.
    """
    fabric, other = pool.rail_fabric, _other_fabric(queue, pool)
    if not fabric or not other:
        return "", []
    hint = (
        f"Set `resources: {other.resources}` on fabric `{fabric.name}`: the rails of both "
        "fabrics then have the same names. If that fabric is in use already and the other is new, "
        f"set `resources: {fabric.resources}` on fabric `{other.name}` instead."
    )
    return hint, [Note(f"pool `{pool.name}` is on fabric `{fabric.name}`", pool.at / "fabric")]


def _other_fabric(queue: Queue, pool: Pool) -> RailFabric | None:
    """Return a fabric of the queue whose `resources` differ from those of the pool's fabric."""
    if not pool.rail_fabric:
        return None
    fabrics = {}
    for flavor in queue.flavors:
        if flavor.pool.rail_fabric:
            fabrics[flavor.pool.rail_fabric.resources] = flavor.pool.rail_fabric
    fabrics.pop(pool.rail_fabric.resources, None)
    return next(iter(fabrics.values()), None)


CHECK = Check(RULE, find)
