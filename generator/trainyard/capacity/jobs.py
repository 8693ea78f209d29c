"""The largest job of a team on a pool, launcher included."""

from __future__ import annotations

from fractions import Fraction

from trainyard.capacity.figures import Job, Limit
from trainyard.model.jobs import grants_on, largest_pods
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
    state = tenant.state_of(flavor)
    if not state.is_open:
        return Job(0, Fraction(0), Limit(state.word))
    jobs = [_job(grant, nodes, bound) for grant in grants_on(tenant, flavor)]
    none = Job(0, Fraction(0), Limit.RUNTIMES)
    return max(jobs, key=lambda job: (job.nodes, job.pods), default=none)


def _job(grant: Grant, nodes: Fraction, bound: Limit) -> Job:
    launch = grant.launch
    pods = largest_pods(grant, nodes)
    if not pods:
        return Job(0, Fraction(0), Limit.SMALLEST_JOB)
    if pods == int(nodes / launch.part):
        limit = bound
    elif pods == launch.runtime.max_nodes:
        limit = Limit.MAX_NODES
    else:
        limit = Limit.LARGEST_JOB
    return Job(pods, pods * launch.part, limit)
