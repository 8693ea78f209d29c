"""Compare each borrowing limit with what the other teams below the same root cohort lend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_nodes
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._iterate import shares

RULE = Rule(
    id="capacity/borrow-exceeds-lenders",
    severity=Severity.WARNING,
    summary="A team may borrow no more nodes than the other teams of its tree of cohorts lend.",
    why="""
        A job of that size waits permanently, because those nodes are never available: `insufficient
        quota for <resource> in flavor <pool>, previously considered podsets requests (0) + current
        podset request (<n>) > maximum capacity (<n>)` (seen with Kueue 0.19.2).
    """,
    fix="Lower `borrow` of this team, or let the other teams `lend` more.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        quotas = shares(site)
        for pool in site.cluster.pools:
            yield from _beyond_lenders(site, pool, quotas[pool.name])


def _beyond_lenders(
    site: Site, pool: Pool, quotas: list[tuple[Tenant, Quota]]
) -> Iterator[Diagnostic]:
    members = list(_members(site, quotas))
    lent: dict[str, Fraction] = defaultdict(Fraction)
    for root, quota in members:
        lent[root] += quota.lend
    for root, quota in members:
        lent_by_others = lent[root] - quota.lend
        if quota.borrow > lent_by_others:
            message = (
                f"`borrow` allows {format_nodes(quota.borrow, pool.hardware.gpus)} of pool "
                f"`{pool.name}`, but the other teams lend "
                f"{format_nodes(lent_by_others, pool.hardware.gpus)}"
            )
            yield RULE.at(quota.at / "borrow", message)


def _members(site: Site, quotas: list[tuple[Tenant, Quota]]) -> Iterator[tuple[str, Quota]]:
    """Yield each quota that belongs to a cohort, after the name of the cohort's root."""
    for tenant, quota in quotas:
        if tenant.team.cohort:
            yield site.cluster.lineage(tenant.team.cohort)[-1], quota


CHECK = Check(RULE, find, every=("teams/", "quota", "cohort", "cohorts"))
