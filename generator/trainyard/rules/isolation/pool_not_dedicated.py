"""Look at each pool that a team with dedicated nodes is on."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.compliance import Compliance
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, asking
from trainyard.rules._iterate import shares

RULE = Rule(
    id="isolation/pool-not-dedicated",
    severity=Severity.ERROR,
    summary="""
        Where a regulation asks for dedicated nodes, only teams under it have quota on their pools,
        unshared.
    """,
    why=f"""
        Jobs of others run on the same nodes (seen with Kueue 0.19.2), at the same time or right
        after, and find what is left on their disks and in their memory. {NOT_ENFORCED}
    """,
    fix="""
        Give these teams a pool of their own with `taint` on its hardware, `lend: none` and no
        `borrow`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        holders = shares(site)
        for pool in site.cluster.pools:
            regulations = (
                asking(tenant.team, "dedicatedNodes") for tenant, _ in holders[pool.name]
            )
            for compliance in [each for each in regulations if each][:1]:
                yield from _shared(pool, compliance, holders[pool.name])


def _shared(
    pool: Pool, compliance: Compliance, holders: list[tuple[Tenant, Quota]]
) -> Iterator[Diagnostic]:
    """Look at the taint, at who else is there, and at loans."""
    dedicated = f"pool `{pool.name}` is for teams under {compliance.name} only"
    if not pool.hardware.taint:
        notes = [Note("no `taint` here", pool.hardware.at)]
        yield RULE.at(
            pool.at, f"{dedicated}, but nothing keeps other pods off its nodes", notes=notes
        )
    for tenant, quota in holders:
        notes = [Note("the pool", pool.at)]
        if tenant.team.compliance != compliance:
            yield RULE.at(
                quota.at, f"{dedicated}, but team {tenant.name} has quota on it", notes=notes
            )
        elif quota.lend or quota.borrow:
            what = (
                f"lends {quota.display(quota.lend)}"
                if quota.lend
                else f"borrows {quota.display(quota.borrow)}"
            )
            yield RULE.at(
                quota.at, f"{dedicated}, but team {tenant.name} {what} of it", notes=notes
            )


CHECK = Check(RULE, find, each=("compliance",))
