"""Permissions that a change gives or takes: those that `diff` names, and others at random."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from tests.e2e.reality_said import Held, Rights
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.objects import Sides
from trainyard.model.permissions import Permission

_OTHERS = 120


def reviews_of(both: Sides, impact: ClusterImpact, order: random.Random) -> Iterator[Held]:
    """Yield whom to ask the API server about: those of whom `diff` speaks, and others."""
    before, after = Rights(both.before, both.after), Rights(both.after, both.before)
    spaces = ["", *sorted({key.name for key in both.after if key.kind == "Namespace"})]
    for access in impact.access:
        for bound in (*access.gained, *access.lost):
            some = _some(order, before.of_roles([bound.role]), 4)
            for permission, space in product(some, bound.namespaces or spaces[:2]):
                yield Held(access.subject, space, permission)
    for role in impact.roles:
        differing = before.of_roles([role.role]) ^ after.of_roles([role.role])
        for permission, subject in product(_some(order, differing, 6), role.subjects):
            yield Held(subject, order.choice(spaces), permission)
    subjects = sorted(before.subjects | after.subjects)
    for permission in _some(order, before.of_all | after.of_all, _OTHERS):
        yield Held(order.choice(subjects), order.choice(spaces), permission)


def _some(order: random.Random, every: Iterable[Permission], most: int) -> list[Permission]:
    """Return some permissions for single verbs, resources and groups."""
    found = [each for each in sorted(every) if _is_single(each)]
    return order.sample(found, min(most, len(found)))


def _is_single(permission: Permission) -> bool:
    return "*" not in "".join(permission) and not permission.resource.startswith("/")


def expected(both: Sides, impact: ClusterImpact, allowed: Mapping[Held, bool]) -> dict[Held, bool]:
    """Return the answers of the API server that change by what `diff` says."""
    before = Rights(both.before, both.after)
    after = before.changed(impact, both.after)
    found = {}
    for held, was in allowed.items():
        now = after.permit(held)
        if before.permit(held) != now and was != now:
            found[held] = now
    return found


def changed(before: Mapping[Held, bool], after: Mapping[Held, bool]) -> dict[Held, bool]:
    """Return the answers that differ."""
    return {held: now for held, now in after.items() if before[held] != now}
