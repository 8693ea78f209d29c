"""The same edit of many objects, so that a reader sees it once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from trainyard.change.impact.objects import ObjectChange
from trainyard.model.differences import Difference
from trainyard.model.identity import Identity


@dataclass(frozen=True, slots=True)
class Edit:
    """The same edit of some objects.

    Args:
        change, scope, reason: as in `ObjectChange`.
        fields: that differ; none where the objects are not only changed.
        objects: that have the edit, sorted.
    """

    kind: str
    change: str
    scope: str
    reason: str
    fields: tuple[Difference, ...]
    objects: tuple[Identity, ...]


def same_edits(changes: Iterable[ObjectChange]) -> tuple[Edit, ...]:
    """Return each edit once, with all objects that have it, sorted by kind and fields.

    Each object is in one edit. Objects that are created, recreated, deleted or left behind for one
    reason are one edit without fields.
    """
    same: dict[tuple[str, ...], list[ObjectChange]] = defaultdict(list)
    for change in changes:
        words = (change.identity.kind, change.change, change.scope, change.reason)
        same[*words, *map(as_text, _shown(change))].append(change)
    edits = []
    for key in sorted(same):
        kind, verb, scope, reason, *_ = key
        objects = tuple(sorted(change.identity for change in same[key]))
        edits.append(Edit(kind, verb, scope, reason, _shown(same[key][0]), objects))
    return tuple(edits)


def as_text(field: Difference) -> str:
    """Return a field and both values as text, which can be compared and sorted."""
    return f"{field.path}: {field.whole}"


def _shown(change: ObjectChange) -> tuple[Difference, ...]:
    return change.fields if change.change == "changed" else ()
