"""Compare the priorities that jobs may have, and how long they may run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.impact.model import Sides
from trainyard.change.impact.quotas import are_comparable
from trainyard.change.impact.states import DeadlineChange, PriorityChange
from trainyard.model.platform import Site


def priority_changes(sides: Sides) -> tuple[PriorityChange, ...]:
    """Return each priority that some namespaces' jobs may have from now on, or no longer.

    Namespaces on one side only are left out. Sorted.
    """
    if not are_comparable(sides):
        return ()
    old, new = _priorities(sides.old), _priorities(sides.new)
    found: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for space in sorted(old.keys() & new.keys()):
        for name in old[space] ^ new[space]:
            found[name, name in new[space]].append(space)
    return tuple(
        PriorityChange(name, added, tuple(spaces))
        for (name, added), spaces in sorted(found.items())
    )


def deadline_changes(sides: Sides) -> tuple[DeadlineChange, ...]:
    """Return each priority on both sides whose jobs may run for another time, sorted."""
    old, new = dict(_deadlines(sides.old)), dict(_deadlines(sides.new))
    return tuple(
        DeadlineChange(name, old[name], new[name])
        for name in sorted(old.keys() & new.keys())
        if old[name] != new[name]
    )


def _priorities(site: Site | None) -> dict[str, frozenset[str]]:
    return {
        space.namespace: frozenset(priority.name for priority in space.priorities)
        for tenant in (site.tenants if site else ())
        for space in tenant.spaces
    }


def _deadlines(site: Site | None) -> Iterator[tuple[str, int]]:
    for priority in site.cluster.priorities if site else ():
        yield priority.name, priority.deadline
