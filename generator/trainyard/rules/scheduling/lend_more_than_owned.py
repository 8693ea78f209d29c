"""Compare each lending limit with what is owned."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="scheduling/lend-more-than-owned",
    severity=Severity.ERROR,
    summary="A team lends no more nodes than it owns.",
    why="""
        The ClusterQueue is refused: `must be less than or equal to the nominalQuota` (seen with
        Kueue 0.19.2).
    """,
    fix="Lower `lend`, or write `all`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        for quota in (flavor.quota for flavor in flavors):
            if quota.lend > quota.nodes:
                message = (
                    f"team {team.name} lends {quota.display(quota.lend)} of pool `{quota.pool}` "
                    f"and owns {quota.units(quota.nodes)}"
                )
                yield RULE.at(quota.at / "lend", message)


CHECK = Check(RULE, find)
