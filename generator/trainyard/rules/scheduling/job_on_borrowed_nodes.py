"""Compare the largest job with the pool that the team owns most of, when some pool can be reached with it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="scheduling/job-on-borrowed-nodes",
    severity=Severity.WARNING,
    summary="A team's largest job fits on the nodes that it owns.",
    why="""
        When an owner wants one node back the whole job is evicted, its own nodes included: `due to
        reclamation within the cohort` (seen with Kueue 0.19.2: a job of 4 own and 2 borrowed nodes
        was killed for one node).
    """,
    fix="""
        Raise `nodes`, lower `largestJob`, or have jobs of that size write checkpoints and waive
        this rule.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        most = max((flavor.quota for flavor in flavors), key=lambda each: each.nodes)
        maximum = max(flavor.quota.maximum for flavor in flavors)
        # In parts of a node a job is as large as quota lets it be.
        largest = (
            min(Fraction(team.largest_job), maximum)
            if most.is_share
            else Fraction(team.largest_job)
        )
        if most.nodes < largest <= maximum:
            message = (
                f"the largest job of team {team.name} takes {most.display(largest)}, of which it "
                f"owns {most.units(most.nodes)} and borrows {most.units(largest - most.nodes)}"
            )
            at = most.at / "borrow" if most.is_share else team.largest_job_at
            yield RULE.at(at, message)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
