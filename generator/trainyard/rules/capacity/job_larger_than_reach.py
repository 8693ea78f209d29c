"""Compare the largest job of each namespace with the pool that the team reaches most of."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import Team
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings
from trainyard.rules.capacity._jobs import reached, submits

RULE = Rule(
    id="capacity/job-larger-than-reach",
    severity=Severity.ERROR,
    summary="""
        A largest job is not larger than the team's own nodes and what it may borrow of one pool.
    """,
    why="""
        The admission policy knows what the team reaches, so the API server refuses every job of
        that size, whatever the profile says: `spec.trainer.numNodes is <n> ...; with ... this team
        may ask for <n> to <n> nodes` (seen with Kubernetes 1.36.3).
    """,
    fix="Lower `largestJob`, or give the team more `nodes` or `borrow`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        quota = max((flavor.quota for flavor in flavors), key=lambda each: each.maximum)
        smallest = _smallest(platform, team)
        for space in team.spaces:
            # A share of a node is told of as a part of one: its job may be called as large as the
            # whole.
            maximum = ceil(quota.maximum) if quota.is_share else quota.maximum
            if maximum < space.largest_job and (quota.is_share or smallest <= maximum):
                message = f"{submits(team, space)}, but reaches {reached(quota)}"
                notes = [Note("the most that it has of any pool", quota.at)]
                yield RULE.at(space.largest_job_at, message, notes=notes)


def _smallest(platform: Platform, team: Team) -> int:
    """Return the nodes of the smallest job that a team can submit with any of its runtimes."""
    return min(
        each.launcher.smallest_job for each in platform.runtimes if each.name in team.runtimes
    )


CHECK = Check(RULE, find, each=("quota", "runtimes"))
