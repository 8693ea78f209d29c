"""Find clusters where all borrowing teams may use the highest priority."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.model.priority import Priority
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/top-priority-for-all",
    severity=Severity.WARNING,
    summary="Not every team that borrows may use the highest priority of the cluster.",
    why="""
        Priorities lose their effect: when an owner takes nodes back, the borrowers' jobs of the
        lowest priority are evicted first (seen with Kueue 0.19.2). Jobs with the highest are
        evicted last, so soon all jobs have it, and the newest of them are evicted.
    """,
    fix="List in the teams' `priorities` the classes that each team may use.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        highest = _highest(site.cluster)
        borrowers = [tenant for tenant in site.tenants if _borrows(tenant)]
        # A single borrower competes with no other.
        if (
            highest
            and len(borrowers) > 1
            and all(_may_use(borrower, highest) for borrower in borrowers)
        ):
            message = (
                f"teams {_names(borrowers)} borrow, and all may use the highest priority, "
                f"`{highest.name}`"
            )
            yield RULE.at(highest.at, message)


def _highest(cluster: Cluster) -> Priority | None:
    """Return the highest of a cluster's priorities, or None when it has fewer than two."""
    return cluster.priorities[-1] if len(cluster.priorities) > 1 else None


def _names(tenants: Iterable[Tenant]) -> str:
    return ", ".join(tenant.name for tenant in tenants)


def _borrows(tenant: Tenant) -> bool:
    return any(flavor.quota.borrow for flavor in tenant.flavors)


def _may_use(tenant: Tenant, priority: Priority) -> bool:
    """Return whether some namespace of a team may use a priority."""
    return any(priority in space.priorities for space in tenant.spaces)


CHECK = Check(RULE, find, every=("teams/", "quota", "pools"))
