"""Compare the priorities that jobs may have, and how long they may run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import starmap

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import DeadlineChange, PriorityChange
from trainyard.change.impact.values import differing
from trainyard.model.platform import Site


def priority_changes(sides: Sides) -> tuple[PriorityChange, ...]:
    """Return each priority that some namespaces' jobs may have from now on, or no longer.

    Namespaces on one side only are left out. Sorted.
    """
    if not sides.are_comparable:
        return ()
    before, after = dict(_priorities(sides.old)), dict(_priorities(sides.new))
    namespaces: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for namespace, had, has in differing(before, after):
        for priority in had ^ has:
            namespaces[priority, priority in has].append(namespace)
    return tuple(PriorityChange(*key, tuple(some)) for key, some in sorted(namespaces.items()))


def deadline_changes(sides: Sides) -> tuple[DeadlineChange, ...]:
    """Return each priority on both sides whose jobs may run for another time, sorted."""
    before, after = dict(_deadlines(sides.old)), dict(_deadlines(sides.new))
    return tuple(starmap(DeadlineChange, differing(before, after)))


def _priorities(site: Site | None) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each namespace with the priorities that its jobs may have."""
    for tenant in site.tenants if site else ():
        for space in tenant.spaces:
            yield space.namespace, frozenset(priority.name for priority in space.priorities)


def _deadlines(site: Site | None) -> Iterator[tuple[str, int]]:
    for priority in site.cluster.priorities if site else ():
        yield priority.name, priority.deadline
