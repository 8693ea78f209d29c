"""Count the resources of each queue; the pool that brings the first one too many is the place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from operator import or_

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.queue import Queue
from trainyard.rules._check import Check
from trainyard.rules.scheduling._limits import WHY_LIMITED, queues

RULE = Rule(
    id="scheduling/too-many-resources-in-queue",
    severity=Severity.ERROR,
    summary="""
        The pools of one queue have no more resources, rails included, than the release's Kueue
        takes.
    """,
    why=f"""
        {WHY_LIMITED} Kueue's words are `ClusterQueueDoesNotExist` and, in its log,
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
                f"{queue.cluster.name} have {covered} resources; a queue takes {most}"
            )
            sums = accumulate((set(flavor.pool.allocatable) for flavor in queue.flavors), or_)
            flavor = queue.flavors[sum(len(each) <= most for each in sums)]
            hint, notes = _shared_names(queue, flavor.pool)
            cause = (
                f"{queue.node_class} queues on cluster {queue.cluster.name} have more than "
                f"{most} resources"
            )
            yield RULE.at(flavor.quota.at, message, hint=hint, notes=notes, cause=cause)


def _shared_names(queue: Queue, pool: Pool) -> tuple[str, list[Note]]:
    """Return the edit with which the rails of a pool have the names of the queue's first ones, if that is enough."""
    fabrics = {
        each.pool.fabric.resources: each.pool.fabric for each in queue.flavors if each.pool.fabric
    }
    other = next(
        (
            each
            for each in fabrics.values()
            if pool.fabric and each.resources != pool.fabric.resources
        ),
        None,
    )
    if not pool.fabric or not other:
        return "", []
    hint = (
        f"Set `resources: {other.resources}` on fabric `{pool.fabric.name}`: the rails of both "
        "fabrics then have the same names. If that fabric is in use already and the other is new, "
        f"set `resources: {pool.fabric.resources}` on fabric `{other.name}` instead."
    )
    return hint, [Note(f"pool `{pool.name}` is on fabric `{pool.fabric.name}`", pool.at / "fabric")]


CHECK = Check(RULE, find)
