"""Compare the largest job of each namespace with the largest pool that the quota allows."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings
from trainyard.rules.capacity._jobs import largest_job

RULE = Rule(
    id="capacity/job-larger-than-pool",
    severity=Severity.ERROR,
    summary="A team's `largestJob` does not exceed the nodes that a pool promises.",
    why="""
        A job of that size is accepted and waits permanently: `insufficient quota for <resource> in
        flavor <pool>, previously considered podsets requests (0) + current podset request (<n>) >
        maximum capacity (<n>)` (seen with Kueue 0.19.2). Only the Workload of the job has this
        message; `describe trainjob` shows nothing.
    """,
    fix="Lower `largestJob` and `borrow`, or raise `nodes` of the pool.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        for space in team.spaces:
            allowed = (
                flavor.pool for flavor in flavors if flavor.quota.maximum >= space.largest_job
            )
            pool = max(allowed, key=attrgetter("promised"), default=None)
            if pool is not None and pool.promised < space.largest_job:
                message = (
                    f"{largest_job(team, space)}, but pool `{pool.name}` promises {pool.promised}"
                )
                sizes = f"{counted(pool.nodes, 'node')} less {pool.reserve} in reserve"
                notes = [Note(sizes, pool.at / "nodes")]
                yield RULE.at(space.largest_job_at, message, notes=notes)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
