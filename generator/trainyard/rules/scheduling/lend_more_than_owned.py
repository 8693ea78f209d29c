"""Compare each lending limit with the team's own nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import quotas

RULE = Rule(
    id="scheduling/lend-more-than-owned",
    severity=Severity.ERROR,
    summary="A team lends no more nodes than it owns.",
    why="""
        The ClusterQueue is refused: `must be less than or equal to the nominalQuota` (seen with
        Kueue 0.19.2).
    """,
    fix="Lower `lend`, or set it to `all`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, quota in quotas(platform):
        if quota.lend > quota.nodes:
            message = (
                f"team {team.name} lends {quota.display(quota.lend)} of pool `{quota.pool}`, "
                f"but owns {quota.units(quota.nodes)}"
            )
            yield RULE.at(quota.at / "lend", message)


CHECK = Check(RULE, find)
