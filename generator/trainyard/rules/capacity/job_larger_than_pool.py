"""Compare the largest job with the largest pool, unless the team's reach ends before."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings
from trainyard.rules.capacity._jobs import submits

RULE = Rule(
    id="capacity/job-larger-than-pool",
    severity=Severity.ERROR,
    summary="A team's largest job is not larger than what the pool promises.",
    why="""
        The job is submitted and waits for ever: `insufficient quota for <resource> in flavor
        <pool>, previously considered podsets requests (0) + current podset request (<n>) > maximum
        capacity (<n>)` (seen with Kueue 0.19.2). The message stands on its Workload only; `describe
        trainjob` shows nothing.
    """,
    fix="Lower `largestJob` and `borrow`, or enlarge the pool.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        for space in team.spaces:
            reachable = [
                flavor.pool for flavor in flavors if flavor.quota.maximum >= space.largest_job
            ]
            largest = max(reachable, key=lambda each: each.promised, default=None)
            if largest is not None and largest.promised < space.largest_job:
                message = (
                    f"{submits(team, space)}, but pool `{largest.name}` promises {largest.promised}"
                )
                what = f"{counted(largest.nodes, 'node')} less {largest.reserve} in reserve"
                yield RULE.at(
                    space.largest_job_at, message, notes=[Note(what, largest.at / "nodes")]
                )


CHECK = Check(RULE, find, each=("quota", "runtimes"))
