"""Find quotas that are not smaller after their last day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import quotas

RULE = Rule(
    id="capacity/then-not-smaller",
    severity=Severity.ERROR,
    summary="A quota with a last day has fewer nodes, GPUs or cores afterwards.",
    why="""
        No node comes back on that day, so the day has no meaning: the pool's head-room that it
        promises to others never arrives.
    """,
    fix="Set `then` below the quota, or remove `until`, `reason` and `then`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, quota in quotas(platform):
        if quota.term and quota.term.nodes >= quota.nodes:
            message = (
                f"team {team.name} has {quota.display(quota.nodes)} of pool `{quota.pool}` until "
                f"{quota.term.until}, and {quota.display(quota.term.nodes)} afterwards"
            )
            yield RULE.at(quota.at / "then", message)


CHECK = Check(RULE, find)
