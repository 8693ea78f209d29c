"""The jobs that a team may submit against what its quota, pools and runtimes give."""

from __future__ import annotations

from trainyard.model.quantity import counted
from trainyard.model.team import Quota, Team, TeamSpace


def submits(team: Team, space: TeamSpace) -> str:
    return f"team {team.name} may submit a job of {counted(space.largest_job, 'node')}"


def reached(quota: Quota) -> str:
    """Return what a job of a team can have of a pool, and of what it consists."""
    maximum = quota.display(quota.own + quota.borrowed)
    return f"{maximum} of pool `{quota.pool}` ({quota.own} own, {quota.borrowed} borrowed)"
