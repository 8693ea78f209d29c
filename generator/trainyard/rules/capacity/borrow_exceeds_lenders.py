"""Compare each borrowing limit with what the other teams below the same root cohort lend."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.ownership import Owners, lent_by_others, owners_of
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.rules._check import Check

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
        owners = owners_of(site)
        for pool in site.cluster.pools:
            yield from _beyond_lenders(site.cluster, pool, owners[pool.name])


def _beyond_lenders(cluster: Cluster, pool: Pool, owners: Owners) -> Iterator[Diagnostic]:
    lent = lent_by_others(cluster, owners)
    for tenant, quota in owners:
        if quota.borrow > lent.get(tenant.name, quota.borrow):
            lend = lent[tenant.name]
            message = (
                f"`borrow` allows {pool.display(quota.borrow)} of pool `{pool.name}`, but the "
                f"other teams lend {pool.display(lend) if lend else 'nothing'}"
            )
            yield RULE.at(quota.at / "borrow", message)


CHECK = Check(RULE, find, every=("teams/", "quota", "cohort", "cohorts"))
