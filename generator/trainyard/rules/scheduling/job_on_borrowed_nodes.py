"""Compare a team's largest job on each pool with what the team owns of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.jobs import grants_on, largest_pods
from trainyard.model.platform import Platform
from trainyard.model.queue import Flavor
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/job-on-borrowed-nodes",
    severity=Severity.WARNING,
    summary="A team's largest job on a pool fits on the nodes that it owns there.",
    why="""
        When an owner takes one node back, the whole job is evicted, including its own nodes: `due
        to reclamation within the cohort` (seen with Kueue 0.19.2: a job of 4 own and 2 borrowed
        nodes was killed for one node).
    """,
    fix="""
        Raise `nodes` or lower `largestJob`; or have jobs of that size write checkpoints, and waive
        this rule.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            for flavor in tenant.flavors:
                quota, size = flavor.quota, _largest(tenant, flavor)
                if size > quota.nodes:
                    message = (
                        f"the largest job of team {tenant.name} on pool `{flavor.name}` takes "
                        f"{quota.display(size)}, of which it owns {quota.units(quota.nodes)} and "
                        f"borrows {quota.units(size - quota.nodes)}"
                    )
                    at = quota.at / "borrow" if quota.is_share else tenant.team.largest_job_at
                    yield RULE.at(at, message, notes=[Note("its quota there", quota.at)])


def _largest(tenant: Tenant, flavor: Flavor) -> Fraction:
    """Return the nodes of the largest job of a team on a pool, with borrowed ones."""
    most = flavor.quota.maximum
    if flavor.quota.is_share:
        # A job on a share of a node is at most as large as the quota.
        return min(Fraction(tenant.team.largest_job), most)
    pods = (largest_pods(grant, most) for grant in grants_on(tenant, flavor))
    return Fraction(max(pods, default=0))


CHECK = Check(RULE, find, each=("quota", "runtimes"))
