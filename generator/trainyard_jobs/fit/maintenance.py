"""What a job waits for while nodes of its queue are in maintenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import filterfalse

from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.queue import Queue
from trainyard_jobs.fit.cohorts import Amount
from trainyard_jobs.fit.verdict import Check, Link, Standing

_SHORT = frozenset({Link.QUOTA, Link.TOPOLOGY})
"""Links that nodes in maintenance shorten."""


def until_back(
    queue: Queue, requests: Mapping[Amount, int], checks: Iterable[Check]
) -> Iterator[Check]:
    """Yield the answers about a job; what it lacks by a maintenance only, it waits for.

    Args:
        queue: of the job, with the quota that the profiles state.
        requests: of the whole job.
        checks: answers about the nodes that are left.
    """
    waiting = [flavor.pool for flavor in queue.flavors if flavor.pool.maintenance]
    if not waiting or not _fits(queue, requests):
        yield from checks
        return
    answers = [*checks]
    others = [*filterfalse(_is_short, answers)]
    yield from others
    if len(others) < len(answers):
        yield from map(_missing, waiting)


def _is_short(check: Check) -> bool:
    """Return whether a job never starts on the nodes that are left."""
    return check.standing is Standing.NEVER and check.link in _SHORT


def _fits(queue: Queue, requests: Mapping[Amount, int]) -> bool:
    """Return whether a job is within its quota when all nodes are in use."""
    flavors = {flavor.name: flavor for flavor in queue.flavors}
    for (name, resource), amount in requests.items():
        if amount > flavors[name].amount(resource, flavors[name].quota.maximum):
            return False
    return True


def _missing(pool: Pool) -> Check:
    """Return that a job waits until nodes of a pool are back."""
    last = pool.maintenance[-1]
    out = "; ".join(window.display for window in pool.maintenance)
    nodes = f"{len(pool.out_of_use)} of {counted(pool.nodes, 'node')} of {pool.name}"
    return Check(
        Link.QUOTA,
        Standing.WAITS,
        f"the job is larger than what is left: {nodes} are out of use, {out}",
        last.at,
        limit=counted(pool.in_use.nodes, "node"),
        repair=("wait until the nodes are back, or ask for fewer",),
    )
