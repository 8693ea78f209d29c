"""Compare a team's largest job with the pool of which the team owns most."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from operator import attrgetter

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="scheduling/job-on-borrowed-nodes",
    severity=Severity.WARNING,
    summary="A team's largest job fits on the nodes that it owns.",
    why="""
        When an owner takes one node back, the whole job is evicted, including its own nodes: `due
        to reclamation within the cohort` (seen with Kueue 0.19.2: a job of 4 own and 2 borrowed
        nodes was killed for one node).
    """,
    fix="""
        Raise `nodes` or lower `largestJob`; or have jobs of that size write checkpoints, and waive
        this rule.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        quotas = [flavor.quota for flavor in flavors]
        most = max(quotas, key=attrgetter("nodes"))
        maximum = max(quota.maximum for quota in quotas)
        largest = Fraction(team.largest_job)
        if most.is_share:
            # A job on a share of a node is at most as large as the quota.
            largest = min(largest, maximum)
        if most.nodes < largest <= maximum:
            message = (
                f"the largest job of team {team.name} takes {most.display(largest)}, of which it "
                f"owns {most.units(most.nodes)} and borrows {most.units(largest - most.nodes)}"
            )
            at = most.at / "borrow" if most.is_share else team.largest_job_at
            yield RULE.at(at, message)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
