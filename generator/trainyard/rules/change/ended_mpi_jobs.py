"""Find teams that keep MPIJobs after their last day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import DatedCheck
from trainyard.rules._iterate import active

RULE = Rule(
    id="change/ended-mpi-jobs",
    severity=Severity.WARNING,
    summary="No team keeps `mpiJobs` after its last day (`until`).",
    why="""
        The API server refuses new MPIJobs since that day, and those that exist run on. The roles,
        the network policy and the MPI operator stay without a use.
    """,
    fix="""
        Wait until the last MPIJob has ended, and remove `mpiJobs`; or agree on a later day.
    """,
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    for team in active(platform):
        for cluster, mpi_jobs in team.mpi_jobs.items():
            if mpi_jobs.until < today:
                message = (
                    f"MPIJobs of team {team.name} on cluster `{cluster}` ended on {mpi_jobs.until}"
                )
                yield RULE.at(mpi_jobs.at / "until", message)


CHECK = DatedCheck(RULE, find)
