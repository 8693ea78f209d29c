"""The same edit of many objects, so that a reader sees it once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from trainyard.impact.model import ObjectChange
from trainyard.model.differences import Difference
from trainyard.model.identity import Identity


@dataclass(frozen=True, slots=True)
class Edit:
    """The same edit of some objects.

    Args:
        change, scope, reason: as in `ObjectChange`.
        field: that differs; None where the objects are not only changed.
        objects: that have the edit, sorted.
    """

    kind: str
    change: str
    scope: str
    reason: str
    field: Difference | None
    objects: tuple[Identity, ...]


def same_edits(changes: Iterable[ObjectChange]) -> tuple[Edit, ...]:
    """Return each edit once, with all objects that have it, sorted by kind and field.

    Objects that are created, recreated, deleted or left behind for one reason are one edit without
    a field.
    """
    found: dict[tuple[str, ...], list[tuple[ObjectChange, Difference | None]]] = defaultdict(list)
    for change in changes:
        for field in (change.fields if change.change == "changed" else ()) or (None,):
            words = (change.identity.kind, change.change, change.scope, change.reason)
            found[*words, *_as_text(field)].append((change, field))
    return tuple(_edit(found[key]) for key in sorted(found))


def _edit(same: list[tuple[ObjectChange, Difference | None]]) -> Edit:
    change, field = same[0]
    objects = tuple(sorted(each.identity for each, _ in same))
    return Edit(change.identity.kind, change.change, change.scope, change.reason, field, objects)


def _as_text(field: Difference | None) -> tuple[str, str, str]:
    """Return a field and both values as text, which can be compared and sorted."""
    if field is None:
        return "", "", ""
    old, new = (json.dumps(each, sort_keys=True) for each in (field.old, field.new))
    return field.path, old, new
