"""Compare rights for a time, and what shows dashboards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.change.impact.values import differing_or_absent
from trainyard.change.objects import Sides
from trainyard.model.people import described
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class TermChange:
    """A right whose last day differs; only the profile of a team has this day.

    Args:
        subject: ``group nccl-experts``, or ``team nlp`` for all who submit its jobs.
        right: what the subject may do, e.g. ``create MPIJobs``.
        before, after: ISO date of the last day; empty where the subject lacks the right.
    """

    subject: str
    right: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ViewerChange:
    """A program that shows dashboards from now on, or no more.

    Args:
        viewer: as the cluster's profile names it.
    """

    viewer: str
    added: bool


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


def viewer_changes(sides: Sides) -> tuple[ViewerChange, ...]:
    """Return the program that shows dashboards no more, and the one that does from now on."""
    before, after = _viewer(sides.old), _viewer(sides.new)
    changes = []
    if before and before != after:
        changes.append(ViewerChange(before, added=False))
    if after and before != after:
        changes.append(ViewerChange(after, added=True))
    return tuple(changes)


def _viewer(site: Site | None) -> str:
    return site.cluster.viewer if site else ""
