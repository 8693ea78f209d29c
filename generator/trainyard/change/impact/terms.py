"""Compare the last days of rights on both sides of a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainyard.change.impact.model import Sides
from trainyard.change.impact.quotas import are_comparable
from trainyard.change.impact.rights import TermChange
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant


class _Right(NamedTuple):
    team: str
    subject: str
    right: str


def term_changes(sides: Sides) -> tuple[TermChange, ...]:
    """Return each right for a time that is given, ended, or has another last day, sorted.

    A team that leaves the cluster is left out: its bindings show who keeps what.
    """
    if sides.new is None or not are_comparable(sides):
        return ()
    before, after = _terms(sides.old, sides.renamed), _terms(sides.new, {})
    stay = {tenant.name for tenant in sides.new.tenants}
    changed = {each for each, _ in before.items() ^ after.items() if each.team in stay}
    return tuple(
        TermChange(each.subject, each.right, before.get(each, ""), after.get(each, ""))
        for each in sorted(changed)
    )


def _terms(site: Site | None, renamed: Mapping[str, str]) -> dict[_Right, str]:
    """Return the last day of each right that the teams' profiles give on a cluster."""
    tenants = site.tenants if site else ()
    return dict(
        right for each in tenants for right in _of_team(renamed.get(each.name, each.name), each)
    )


def _of_team(name: str, tenant: Tenant) -> Iterator[tuple[_Right, str]]:
    if debuggers := tenant.team.debuggers:
        right = f"run commands in the pods of team {name}"
        for group in debuggers.groups:
            yield _Right(name, f"group {group}", right), debuggers.until
    if mpi_jobs := tenant.spaces[0].mpi_jobs:
        yield _Right(name, f"team {name}", "create MPIJobs"), mpi_jobs.until
