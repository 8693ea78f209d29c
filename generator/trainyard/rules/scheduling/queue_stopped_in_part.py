"""Find queues of which a state stops some pools only."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.queue import Queue
from trainyard.model.state import furthest
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/queue-stopped-in-part",
    severity=Severity.ERROR,
    summary="All pools of a queue have the same state.",
    why="""
        Kueue holds and drains a ClusterQueue as a whole (`stopPolicy`), and a ResourceFlavor has
        no such field. The jobs of the team on its other pools would wait or be evicted too (seen
        with Kueue 0.19.2).
    """,
    fix="""
        Set the same `state` for all pools of the queue. To stop one of them, list its nodes under
        `maintenance`: its quota falls, and jobs start on the other pools.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            for queue in tenant.queues:
                yield from _queue(queue)


def _queue(queue: Queue) -> Iterator[Diagnostic]:
    """Yield that a queue's pools differ, at the pool that is nearest to the end.

    A state of the team or of the cluster that is further counts for all pools.
    """
    stated = queue.team.state_on(queue.cluster.name)
    words = {flavor.name: furthest(stated, flavor.pool.stated).word for flavor in queue.flavors}
    if len(set(words.values())) > 1:
        states = ", ".join(f"`{pool}` is {word}" for pool, word in words.items())
        message = f"queue {queue.name} has pools in different states: {states}"
        yield RULE.at(queue.state.at, message)


CHECK = Check(RULE, find)
