"""Look for a borrower that may not use the highest class; where only one borrows nobody competes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import held

RULE = Rule(
    id="scheduling/top-priority-for-all",
    severity=Severity.WARNING,
    summary="Not every team that borrows may use the highest priority of the cluster.",
    why="""
        When an owner takes nodes back, the borrowers' jobs of the lowest priority go first (seen
        with Kueue 0.19.2): whoever writes the highest on everything is never evicted, so soon
        everybody does, and priorities say nothing.
    """,
    fix="Say in the teams' `priorities` which they may use.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        borrowers = [
            tenant for tenant in site.tenants if any(flavor.quota.borrow for flavor in held(tenant))
        ]
        for highest in site.cluster.priorities[1:][-1:]:
            may = [
                each.name
                for each in borrowers
                if any(highest in space.priorities for space in each.spaces)
            ]
            if len(may) == len(borrowers) > 1:
                message = (
                    f"teams {', '.join(may)} borrow, and all may submit as `{highest.name}`, "
                    "which goes first"
                )
                yield RULE.at(highest.at, message)


CHECK = Check(RULE, find, every=("teams/", "quota", "pools"))
