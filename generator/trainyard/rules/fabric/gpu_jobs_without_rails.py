"""Find pools of GPUs without rails whose jobs may use several nodes.

A runtime with `fabric: tcp` or `isolated` needs no rails, so its jobs are permitted. Another rule
refuses a runtime with `gpudirect` or `rdma`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/gpu-jobs-without-rails",
    severity=Severity.WARNING,
    summary="Jobs that may use several nodes with GPUs have rails between these nodes.",
    why="""
        GPUs idle while their jobs wait for the network, and no message shows it: ranks on different
        nodes communicate by TCP over the pod network, at a fraction of the speed of RDMA.
    """,
    fix="""
        Set `fabric` of the pool: of hardware with rails, or whose `devices` others advertise, as on
        most clouds. Or set `largestJob: {nodes: 1}` and list a torchrun runtime. If TCP is
        intended, set `fabric: tcp` in the runtime, or waive this rule with a reason.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            is_without = not pool.hardware.rails and pool.fabric is None
            if is_without and _is_supported(pool.hardware):
                jobs = list(_jobs_over_tcp(site, pool))
                if jobs:
                    message = (
                        f"jobs of several nodes may run on pool `{pool.name}`, whose nodes "
                        "have GPUs but neither rails nor a fabric"
                    )
                    yield RULE.at(pool.at.key(), message, notes=jobs)


def _is_supported(hardware: Hardware) -> bool:
    """Return whether nodes have GPUs that jobs can use: another rule refuses the others."""
    return hardware.maker is not None and not hardware.maker.lacks


def _jobs_over_tcp(site: Site, pool: Pool) -> Iterator[Note]:
    """Yield each runtime with which a team may start a job on several nodes of a pool, once."""
    for tenant in site.tenants:
        largest: dict[str, Fraction] = {}
        for name, nodes in _jobs(tenant, pool):
            if nodes > 1:
                largest[name] = max(nodes, largest.get(name, nodes))
        for name, nodes in sorted(largest.items()):
            message = f"team {tenant.name} may use {pool.display(nodes)} with runtime `{name}`"
            yield Note(message, tenant.team.at / "runtimes")


def _jobs(tenant: Tenant, pool: Pool) -> Iterator[tuple[str, Fraction]]:
    """Yield each runtime for the pool that does not name a `fabric`, and the nodes of a job."""
    quotas = (flavor.quota.maximum for flavor in tenant.flavors if flavor.pool == pool)
    maximum = max(quotas, default=Fraction(0))
    for space in tenant.spaces:
        for grant in space.grants:
            runtime = grant.launch.runtime
            if not runtime.fabric and pool.hardware.name in runtime.hardware:
                yield runtime.name, min(grant.nodes * grant.launch.part, maximum)


CHECK = Check(RULE, find)
