"""Find lending limits of teams that are in no cohort."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import quotas
from trainyard.rules.scheduling._cohorts import NO_LIMITS

RULE = Rule(
    id="scheduling/lend-without-cohort",
    severity=Severity.ERROR,
    summary="A team with `lend` is in a cohort.",
    why=f"The team lends nothing, and the nodes that it does not use stay idle. {NO_LIMITS}",
    fix="Set the team's `cohort`, or remove `lend`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, quota in quotas(platform):
        if quota.lend and not team.cohort:
            message = (
                f"team {team.name} lends {quota.display(quota.lend)} of pool "
                f"`{quota.pool}`, but is in no cohort"
            )
            yield RULE.at(quota.at / "lend", message)


CHECK = Check(RULE, find)
