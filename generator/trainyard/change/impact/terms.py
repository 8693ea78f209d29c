"""Compare the last days of rights on both sides of a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.change.impact.model import Sides
from trainyard.change.impact.rights import TermChange
from trainyard.change.impact.values import differing_or_absent
from trainyard.model.people import described
from trainyard.model.tenant import Tenant


def term_changes(sides: Sides) -> tuple[TermChange, ...]:
    """Return each right for a time that is given, ended, or has another last day, sorted.

    A team that leaves the cluster is left out: its bindings show who keeps what.
    """
    if sides.new is None or not sides.are_comparable:
        return ()
    before, after = (dict(_terms(tenants)) for tenants in sides.tenants)
    stay = sides.tenants[1]
    changes = differing_or_absent(before, after, "")
    return tuple(TermChange(*right, *days) for (team, *right), *days in changes if team in stay)


def _terms(tenants: Mapping[str, Tenant]) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield team, subject and right of each right that the teams' profiles give; its last day."""
    for name, tenant in tenants.items():
        if debuggers := tenant.team.debuggers:
            right = f"run commands in the pods of team {name}"
            for group in debuggers.groups:
                yield (name, described(group), right), debuggers.until
        if mpi_jobs := tenant.spaces[0].mpi_jobs:
            yield (name, f"team {name}", "create MPIJobs"), mpi_jobs.until
