"""Compare the regulations that teams are under, and what these demand."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import RegulationChange
from trainyard.model.tenant import Tenant


def regulation_changes(sides: Sides) -> tuple[RegulationChange, ...]:
    """Return each team on both sides that is under another regulation, or held to other measures.

    Sorted by team.
    """
    changes = []
    for name, old, new in sides.kept_tenants() if sides.are_comparable else ():
        (before, had), (after, has) = _demands(old), _demands(new)
        if before != after or had != has:
            measures = tuple(sorted(had - has)), tuple(sorted(has - had))
            changes.append(RegulationChange(name, before, after, *measures))
    return tuple(changes)


def _demands(tenant: Tenant) -> tuple[str, AbstractSet[str]]:
    """Return the title of a team's regulation and its measures; empty for none."""
    compliance = tenant.team.compliance
    return (compliance.title, compliance.controls.keys()) if compliance else ("", frozenset())
