"""Compare a team's largest job on each pool with what the team owns of it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.jobs import largest_nodes
from trainyard.model.platform import Platform
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
                quota, size = flavor.quota, largest_nodes(tenant, flavor)
                if size > quota.nodes:
                    message = (
                        f"the largest job of team {tenant.name} on pool `{flavor.name}` takes "
                        f"{quota.display(size)}, of which it owns {quota.units(quota.nodes)} and "
                        f"borrows {quota.units(size - quota.nodes)}"
                    )
                    at = quota.at / "borrow" if quota.is_share else tenant.team.largest_job_at
                    yield RULE.at(at, message, notes=[Note("its quota there", quota.at)])


CHECK = Check(RULE, find, each=("quota", "runtimes"))
