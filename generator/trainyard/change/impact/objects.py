"""Objects that are created, changed, recreated, deleted or left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.change.impact.model import ObjectChange, Sides
from trainyard.change.impact.places import team_of_unit
from trainyard.change.impact.reasons import removed_namespaces, why_it_leaves
from trainyard.change.impact.remaining import units_of, why_it_stays
from trainyard.change.impact.replaced import replaced
from trainyard.model.differences import Difference, differences, few
from trainyard.model.identity import identity
from trainyard.model.immutable import refused_changes
from trainyard.model.manifest import UNLISTED, Manifest

STATEFUL = frozenset({"Namespace", "PersistentVolume", "PersistentVolumeClaim"})
"""Kinds whose deletion loses data."""


def object_changes(sides: Sides) -> tuple[ObjectChange, ...]:
    """Return what happens to each object that differs, sorted by identity."""
    before, after = sides.before, sides.after
    gone, units = before.keys() - after.keys(), units_of(after)
    taken = replaced(gone, after.keys() - before.keys(), sides.renamed)
    changes: list[ObjectChange] = []
    for key, new in after.items():
        if key in before:
            changes += _kept(before[key], new)
        elif key in taken:
            gone.remove(taken[key].identity)
            changes.append(_taken(units, before[taken[key].identity], new, taken[key].reason))
        else:
            changes.append(_change(new, "created", "", ()))
    removed = removed_namespaces(sides)
    for key in gone:
        reason = why_it_leaves(sides, removed, before[key])
        changes.append(_gone(units, reason, before[key]))
    return tuple(sorted(changes, key=lambda change: change.identity))


def number_synced(objects: Iterable[Manifest]) -> int:
    """Return how many objects of a tree Argo CD syncs."""
    return sum(_scope(each) != "artifact" for each in objects)


def number_deleted(changes: Iterable[ObjectChange]) -> int:
    """Return how many objects Argo CD deletes; it never had a file that it does not sync."""
    return sum(each.change == "deleted" and each.scope != "artifact" for each in changes)


def _scope(manifest: Manifest) -> str:
    if manifest.unit in UNLISTED:
        return "artifact"
    if manifest.kind.name in STATEFUL:
        return "stateful"
    return "stateless" if team_of_unit(manifest) else "cluster-wide"


def _kept(old: Manifest, new: Manifest) -> Iterator[ObjectChange]:
    """Yield the change of an object that stays, if there is one."""
    if old.body == new.body and old.unit == new.unit:
        return
    fields = differences(old.body, new.body)
    if refused := few(field.path.removeprefix("spec.") for field in refused_changes(old, new)):
        yield _change(new, "recreated", f"the API server never changes {refused}", fields)
    else:
        moved = f"moves from `{old.unit}/` to `{new.unit}/`" if old.unit != new.unit else ""
        yield _change(new, "changed", moved, fields)


def _taken(units: frozenset[str], old: Manifest, new: Manifest, reason: str) -> ObjectChange:
    """Return the change of an object that takes the place of another, under a new name."""
    left = "; the old one is left behind" if why_it_stays(units, old) else ""
    return _change(new, "recreated", reason + left, differences(old.body, new.body))


def _gone(units: frozenset[str], reason: str, old: Manifest) -> ObjectChange:
    if left := why_it_stays(units, old):
        return _change(old, "left behind", f"{reason}; {left}", ())
    return _change(old, "deleted", reason, ())


def _change(
    manifest: Manifest, change: str, reason: str, fields: Iterable[Difference]
) -> ObjectChange:
    ordered = tuple(sorted(fields, key=lambda field: field.path))
    scope = _scope(manifest)
    return ObjectChange(identity(manifest), change, scope, manifest.unit, reason, ordered)
