"""Queues that start no job: by a state, or while nodes are in maintenance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.model.jobs import grants_on, largest_pods
from trainyard.model.ownership import lent_by_others, owners_of
from trainyard.model.platform import Site


def held_queues(site: Site) -> frozenset[str]:
    """Return the names of queues in which no job can start until nodes are back.

    A job that is only too large for what is left does not count: smaller ones start beside it.
    A queue that a state stops is left out.
    """
    in_use = site.in_use
    if in_use is site:
        return frozenset()
    return frozenset(_open_queues(site)) - frozenset(_open_queues(in_use))


def _open_queues(site: Site) -> Iterator[str]:
    """Yield each queue in which some job can start on the empty cluster."""
    owners = owners_of(site)
    for tenant in site.tenants:
        for queue in tenant.queues:
            for flavor in queue.flavors if queue.state.is_open else ():
                lent = lent_by_others(site.cluster, owners[flavor.name])
                borrowed = min(flavor.quota.borrow, lent.get(tenant.name, Fraction(0)))
                most = min(flavor.quota.nodes + borrowed, Fraction(flavor.pool.nodes))
                if any(largest_pods(grant, most) for grant in grants_on(tenant, flavor)):
                    yield queue.name
