"""Find borrowing limits of teams that are in no cohort."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import quotas
from trainyard.rules.scheduling._cohorts import NO_LIMITS

RULE = Rule(
    id="scheduling/borrow-without-cohort",
    severity=Severity.ERROR,
    summary="A team with `borrow` is in a cohort.",
    why=f"The team never gets more than its own nodes. {NO_LIMITS}",
    fix="Set the team's `cohort`, or remove `borrow`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, quota in quotas(platform):
        if quota.borrow and not team.cohort:
            message = (
                f"team {team.name} may borrow {quota.display(quota.borrow)} of pool "
                f"`{quota.pool}`, but is in no cohort"
            )
            yield RULE.at(quota.at / "borrow", message)


CHECK = Check(RULE, find)
