"""Compare the regulations that teams are under, and what these demand."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import RegulationChange
from trainyard.change.objects import Objects
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant
from trainyard.render.evidence import unanswered


def regulation_changes(sides: Sides) -> tuple[RegulationChange, ...]:
    """Return each team on both sides that is under another regulation, or held to other measures.

    So is one of which a measure is met no longer, or now. Sorted by team.
    """
    changes = []
    was_open, is_open = _open(sides.old, sides.before), _open(sides.new, sides.after)
    for name, old, new in sides.kept_tenants() if sides.are_comparable else ():
        (before, had), (after, has) = _demands(old), _demands(new)
        lacked, lacks = was_open.get(old.name, _NONE), is_open.get(new.name, _NONE)
        both = had & has
        differing = (had - has, has - had, (lacks - lacked) & both, (lacked - lacks) & both)
        if before != after or any(differing):
            changes.append(RegulationChange(name, before, after, *map(_sorted, differing)))
    return tuple(changes)


_NONE: AbstractSet[str] = frozenset()


def _open(site: Site | None, objects: Objects) -> Mapping[str, AbstractSet[str]]:
    """Return the measures that are not met, by team."""
    # Committed ones may lack what a binding of today has.
    stated = [each for each in objects.values() if "roleRef" not in each.body]
    return unanswered(site, stated) if site else {}


def _sorted(measures: AbstractSet[str]) -> tuple[str, ...]:
    return tuple(sorted(measures))


def _demands(tenant: Tenant) -> tuple[str, AbstractSet[str]]:
    """Return the title of a team's regulation and its measures; empty for none."""
    compliance = tenant.team.compliance
    return (compliance.title, compliance.controls.keys()) if compliance else ("", frozenset())
