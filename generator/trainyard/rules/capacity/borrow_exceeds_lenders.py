"""Compare each borrowing limit with what all others below the same root lend of that pool."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_nodes
from trainyard.rules._check import Check
from trainyard.rules._iterate import shares

RULE = Rule(
    id="capacity/borrow-exceeds-lenders",
    severity=Severity.WARNING,
    summary="A team borrows no more nodes than the others of its tree of cohorts lend.",
    why="""
        The limit promises what is never there: a job of that size waits for ever: `insufficient
        quota for <resource> in flavor <pool>, previously considered podsets requests (0) + current
        podset request (<n>) > maximum capacity (<n>)` (seen with Kueue 0.19.2).
    """,
    fix="Lower `borrow`, or let the others lend more.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        gpus = {pool.name: pool.hardware.gpus for pool in site.cluster.pools}
        roots = {
            cohort.name: site.cluster.lineage(cohort.name)[-1] for cohort in site.cluster.cohorts
        }
        for pool, quotas in shares(site).items():
            lent: dict[str, Fraction] = {}
            members = [
                (roots[tenant.team.cohort], quota) for tenant, quota in quotas if tenant.team.cohort
            ]
            for root, quota in members:
                lent[root] = lent.get(root, Fraction(0)) + quota.lend
            for root, quota in members:
                if quota.borrow > (others := lent[root] - quota.lend):
                    what = format_nodes(quota.borrow, gpus[pool])
                    message = f"{what} of pool `{pool}` may be borrowed, but the others lend"
                    message += f" {format_nodes(others, gpus[pool])}"
                    yield RULE.at(quota.at / "borrow", message)


CHECK = Check(RULE, find, every=("teams/", "quota", "cohort", "cohorts"))
