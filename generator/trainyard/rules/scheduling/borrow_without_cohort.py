"""Find borrowing limits of teams that are alone."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings
from trainyard.rules.scheduling._cohorts import NO_LIMITS

RULE = Rule(
    id="scheduling/borrow-without-cohort",
    severity=Severity.ERROR,
    summary="A team that borrows is in a cohort.",
    why=f"{NO_LIMITS} never gets more than its own nodes.",
    fix="Give the team a `cohort`, or take `borrow` away.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        for quota in (flavor.quota for flavor in flavors):
            if quota.borrow and not team.cohort:
                message = (
                    f"team {team.name} may borrow {quota.display(quota.borrow)} of pool "
                    f"`{quota.pool}`, but is in no cohort"
                )
                yield RULE.at(quota.at / "borrow", message)


CHECK = Check(RULE, find)
