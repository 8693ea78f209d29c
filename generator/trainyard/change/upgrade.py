"""Find the objects that only another version of Trainyard changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trainyard import __version__
from trainyard.change.clusters import by_hand, objects_of
from trainyard.change.impact.model import Sides
from trainyard.change.impact.upgrade import Upgrade
from trainyard.change.objects import Objects
from trainyard.generation.generate import generate
from trainyard.model.identity import Identity
from trainyard.tree.tree import Tree


def upgrade_of(
    tree: Tree, profiles: Path, sides: Iterable[Sides], components_root: str
) -> Upgrade | None:
    """Return the objects that differ though no profile has changed them; None for an equal version.

    The base's profiles are generated with this version: what then equals the head's object, and
    not the committed one, no profile has changed.

    Args:
        tree: the base's.
        profiles: folder of those of the base.
        sides: each cluster on both sides.
        components_root: as `generate` takes it.
    """
    committed = tree.locks()
    older = sorted({lock.tool for lock in committed.values()} - {__version__})
    kept = {side.name: side for side in sides if side.name in committed and side.new}
    if not (older and kept):
        return None
    again = generate(profiles, components_root, tuple(kept), tree=tree)
    objects = {}
    for name in again.manifests:
        unedited = {**objects_of(name, again), **by_hand(kept[name].old)}
        objects[name] = frozenset(_moved(kept[name], unedited))
    return Upgrade(", ".join(older), __version__, objects)


def _moved(sides: Sides, unedited: Objects) -> Iterator[Identity]:
    """Yield the objects of a cluster that differ from the committed ones without an edit."""
    for identity in {*sides.before, *sides.after}:
        old, new = _body(sides.before, identity), _body(sides.after, identity)
        if old != new and _body(unedited, identity) == new:
            yield identity


def _body(objects: Objects, identity: Identity) -> dict[str, Any] | None:
    manifest = objects.get(identity)
    return manifest.body if manifest else None
