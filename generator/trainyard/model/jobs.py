"""The runtimes of a team on a pool, and the largest job of each on a number of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.model.queue import Flavor
from trainyard.model.space import Grant
from trainyard.model.tenant import Tenant


def grants_on(tenant: Tenant, flavor: Flavor) -> Iterator[Grant]:
    """Yield the runtimes of each namespace of a team on the nodes of a pool.

    Those for any of several kinds of node are left out: each kind has its own, of the same size.
    """
    for space in tenant.spaces:
        for grant in space.grants:
            if grant.launch.hardware.name == flavor.pool.hardware.name and grant.launch.part == (
                _part(flavor, grant)
            ):
                yield grant


def largest_pods(grant: Grant, nodes: Fraction) -> int:
    """Return the pods of the largest job with a runtime on a number of nodes; 0 for none."""
    pods = min(int(nodes / grant.launch.part), grant.nodes)
    return pods if pods >= grant.launch.runtime.smallest_job else 0


def largest_nodes(tenant: Tenant, flavor: Flavor) -> Fraction:
    """Return the nodes of the largest job of a team on a pool, with all that it may borrow."""
    most = flavor.quota.maximum
    jobs = (largest_pods(grant, most) * grant.launch.part for grant in grants_on(tenant, flavor))
    return max(jobs, default=Fraction(0))


def _part(flavor: Flavor, grant: Grant) -> Fraction:
    """Return the part of a node that a pod with a runtime has in a quota."""
    if not flavor.quota.is_share:
        return Fraction(1)
    return flavor.quota.nodes / grant.launch.runtime.smallest_job
