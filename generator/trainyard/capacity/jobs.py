"""The largest job of a team on a pool, launcher included."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.capacity.figures import Job, Limit
from trainyard.model.queue import Flavor
from trainyard.model.space import Grant
from trainyard.model.tenant import Tenant


def largest_job(tenant: Tenant, flavor: Flavor, nodes: Fraction, bound: Limit) -> Job:
    """Return the largest job of any of a team's namespaces and runtimes on a number of nodes.

    The admission policy's limit is that of the grant; Kueue's is the number of nodes.

    Args:
        tenant: the team.
        flavor: its quota on the pool.
        nodes: that the job may use.
        bound: what limits this number.
    """
    jobs = [_job(grant, nodes, bound) for grant in _grants(tenant, flavor)]
    return max(jobs, key=lambda job: (job.gpus, job.pods), default=Job(0, 0, Limit.RUNTIMES))


def _grants(tenant: Tenant, flavor: Flavor) -> Iterator[Grant]:
    """Yield the runtimes of each namespace on the nodes of a pool.

    Those for any of several kinds of node are left out: each kind has its own, of the same size.
    """
    for space in tenant.spaces:
        for grant in space.grants:
            if grant.launch.hardware.name == flavor.pool.hardware.name and grant.launch.part == (
                _part(flavor, grant)
            ):
                yield grant


def _part(flavor: Flavor, grant: Grant) -> Fraction:
    """Return the part of a node that a pod with a runtime has in a quota."""
    if not flavor.quota.is_share:
        return Fraction(1)
    return flavor.quota.nodes / grant.launch.runtime.launcher.smallest_job


def _job(grant: Grant, nodes: Fraction, bound: Limit) -> Job:
    launch = grant.launch
    room = int(nodes / launch.part)
    pods = min(room, grant.nodes)
    if pods < launch.runtime.launcher.smallest_job:
        return Job(0, 0, Limit.SMALLEST_JOB)
    if pods == room:
        limit = bound
    elif pods == launch.runtime.max_nodes:
        limit = Limit.MAX_NODES
    else:
        limit = Limit.LARGEST_JOB
    return Job(pods, pods * launch.gpus, limit)
