"""Compare the largest job of each namespace with the team's largest quota on any pool."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import Team
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings
from trainyard.rules.capacity._jobs import display_maximum, largest_job

RULE = Rule(
    id="capacity/job-exceeds-quota",
    severity=Severity.ERROR,
    summary="A team's `largestJob` does not exceed its `nodes` + `borrow` of one pool.",
    why="""
        The API server refuses every job of that size, because the admission policy limits jobs to
        the team's quota: `spec.trainer.numNodes is <n> ...; with ... this team may ask for <n> to
        <n> nodes` (seen with Kubernetes 1.36.3).
    """,
    fix="Lower `largestJob`, or raise the team's `nodes` or `borrow`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        quota = max((flavor.quota for flavor in flavors), key=lambda each: each.maximum)
        smallest = _smallest(platform, team)
        for space in team.spaces:
            # A share is a fraction of a node: a job on it counts as one node.
            maximum = ceil(quota.maximum) if quota.is_share else quota.maximum
            if maximum < space.largest_job and (quota.is_share or smallest <= maximum):
                message = (
                    f"{largest_job(team, space)}, but its quota allows {display_maximum(quota)}"
                )
                notes = [Note("its largest quota on any pool", quota.at)]
                yield RULE.at(space.largest_job_at, message, notes=notes)


def _smallest(platform: Platform, team: Team) -> int:
    """Return the nodes of the smallest job that a team can submit with any of its runtimes."""
    listed = (runtime for runtime in platform.runtimes if runtime.name in team.runtimes)
    return min(each.smallest_job for each in listed)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
