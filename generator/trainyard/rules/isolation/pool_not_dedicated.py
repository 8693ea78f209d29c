"""Find pools that teams under a regulation share, although it requires dedicated nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.compliance import Compliance
from trainyard.model.ownership import Owners, owners_of
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, asking

RULE = Rule(
    id="isolation/pool-not-dedicated",
    severity=Severity.ERROR,
    summary="""
        Where a regulation requires dedicated nodes, only teams under it have quota on their pools,
        and they neither lend nor borrow.
    """,
    why=f"""
        Jobs of other teams run on the same nodes (seen with Kueue 0.19.2), at the same time or
        directly afterwards. They find what is left on their disks and in their memory.
        {NOT_ENFORCED}
    """,
    fix="""
        Give these teams a pool of their own, with `taint` on its hardware, `lend: none` and no
        `borrow`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        quotas = owners_of(site)
        for pool in site.cluster.pools:
            compliance = _regulation(quotas[pool.name])
            if compliance:
                yield from _shared(pool, compliance, quotas[pool.name])


def _regulation(quotas: Owners) -> Compliance | None:
    """Return the first regulation of a team on a pool that requires dedicated nodes."""
    regulations = (asking(tenant.team, "dedicatedNodes") for tenant, _ in quotas)
    return next(filter(None, regulations), None)


def _shared(pool: Pool, compliance: Compliance, quotas: Owners) -> Iterator[Diagnostic]:
    """Yield a missing taint, other teams on the pool, and nodes that are lent or borrowed."""
    dedicated = f"pool `{pool.name}` is for teams under {compliance.name} only"
    if not pool.hardware.taint:
        notes = [Note("no `taint` here", pool.hardware.at)]
        message = f"{dedicated}, but no taint keeps other pods off its nodes"
        yield RULE.at(pool.at, message, notes=notes)
    for tenant, quota in quotas:
        use = _forbidden_use(tenant, quota, compliance)
        if use:
            message = f"{dedicated}, but team {tenant.name} {use}"
            yield RULE.at(quota.at, message, notes=[Note("the pool", pool.at)])


def _forbidden_use(tenant: Tenant, quota: Quota, compliance: Compliance) -> str:
    """Return how a team shares a dedicated pool; empty if it does not."""
    if tenant.team.compliance != compliance:
        return "has quota on it"
    if quota.lend:
        return f"lends {quota.display(quota.lend)} of it"
    if quota.borrow:
        return f"borrows {quota.display(quota.borrow)} of it"
    return ""


CHECK = Check(RULE, find, each=("compliance",))
