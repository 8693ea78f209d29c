"""Find pools of GPUs without ports for RDMA whose jobs take several nodes.

A runtime with `fabric: tcp` or `isolated` wants no rails, so its jobs are no finding; one with
`gpudirect` or `rdma` is refused elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_nodes
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._iterate import held

RULE = Rule(
    id="fabric/gpu-jobs-without-rails",
    severity=Severity.WARNING,
    summary="Jobs that may take several nodes with GPUs have rails between them.",
    why="""
        Ranks on different nodes talk by TCP over the pod network, at a fraction of the speed of
        RDMA: such jobs wait for the network while their GPUs idle, and no message says so.
    """,
    fix="""
        Put the pool on a `fabric` with hardware that has rails; or set `largestJob: {nodes: 1}` and
        list a torchrun runtime; or waive this with the reason. `fabric: tcp` in a runtime states
        that sockets are meant.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.hardware.gpus and not pool.hardware.rails and pool.fabric is None:
                jobs = [job for tenant in site.tenants for job in _jobs_over_tcp(tenant, pool)]
                if jobs:
                    message = (
                        f"jobs of several nodes may run on pool `{pool.name}`, whose nodes "
                        "have GPUs and no rails"
                    )
                    yield RULE.at(pool.at.key(), message, notes=jobs)


def _jobs_over_tcp(tenant: Tenant, pool: Pool) -> Iterator[Note]:
    """Yield each runtime with which a team may start a job on several nodes of a pool, once."""
    maximum = max(
        (each.quota.maximum for each in held(tenant) if each.pool == pool), default=Fraction(0)
    )
    launches: dict[str, Fraction] = {}
    for grant in (grant for space in tenant.spaces for grant in space.grants):
        runtime = grant.launch.runtime
        nodes = min(grant.nodes * grant.launch.part, maximum)
        if nodes > 1 and not runtime.fabric and pool.hardware.name in runtime.hardware:
            launches[runtime.name] = max(nodes, launches.get(runtime.name, nodes))
    for name, nodes in sorted(launches.items()):
        what = format_nodes(nodes, pool.hardware.gpus)
        yield Note(
            f"team {tenant.name} may take {what} with runtime `{name}`", tenant.team.at / "runtimes"
        )


CHECK = Check(RULE, find)
