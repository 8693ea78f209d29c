"""The jobs that a team may submit against what its quota, pools and runtimes give."""

from __future__ import annotations

from trainyard.model.quantity import counted
from trainyard.model.team import Quota, Team, TeamSpace


def submits(team: Team, space: TeamSpace) -> str:
    return f"team {team.name} may submit a job of {counted(space.largest_job, 'node')}"


def reached(quota: Quota) -> str:
    """Return what a job of a team can have of a pool, and of what it consists."""
    own, borrowed = quota.units(quota.nodes), quota.units(quota.borrow)
    maximum = quota.display(quota.maximum)
    return f"{maximum} of pool `{quota.pool}` ({own} own, {borrowed} borrowed)"
