"""Phrases about the jobs that a team may submit."""

from __future__ import annotations

from trainyard.model.quantity import counted
from trainyard.model.team import Quota, Team, TeamSpace


def largest_job(team: Team, space: TeamSpace) -> str:
    """Return the beginning of a message about the largest job of a namespace."""
    return f"team {team.name} may submit a job of {counted(space.largest_job, 'node')}"


def display_maximum(quota: Quota) -> str:
    """Return the most that one job can use of a pool, with its own and borrowed parts."""
    own, borrowed = quota.units(quota.nodes), quota.units(quota.borrow)
    maximum = quota.display(quota.maximum)
    return f"{maximum} of pool `{quota.pool}` ({own} own, {borrowed} borrowed)"
