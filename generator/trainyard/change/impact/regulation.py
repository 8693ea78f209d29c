"""Compare the regulations that teams are under, and what these demand."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.change.impact.model import Sides
from trainyard.change.impact.quotas import are_comparable
from trainyard.change.impact.states import RegulationChange
from trainyard.model.compliance import Compliance
from trainyard.model.platform import Site


def regulation_changes(sides: Sides) -> tuple[RegulationChange, ...]:
    """Return each team on both sides that is under another regulation, or held to other measures.

    Sorted by team.
    """
    if not are_comparable(sides):
        return ()
    old, new = _regulations(sides.old, sides.renamed), _regulations(sides.new, {})
    changes = (_compared(team, old[team], new[team]) for team in sorted(old.keys() & new.keys()))
    return tuple(each for each in changes if each.before != each.after or each.lost or each.gained)


def _regulations(site: Site | None, renamed: Mapping[str, str]) -> dict[str, Compliance | None]:
    return {
        renamed.get(tenant.name, tenant.name): tenant.team.compliance
        for tenant in (site.tenants if site else ())
    }


def _compared(team: str, old: Compliance | None, new: Compliance | None) -> RegulationChange:
    before, after = (each.title if each else "" for each in (old, new))
    had, has = (each.controls.keys() if each else frozenset[str]() for each in (old, new))
    return RegulationChange(team, before, after, tuple(sorted(had - has)), tuple(sorted(has - had)))
