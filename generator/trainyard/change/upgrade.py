"""Find the objects that only another version of Trainyard changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard import __version__
from trainyard.change.clusters import by_hand, objects_of
from trainyard.change.impact.model import Sides
from trainyard.change.impact.upgrade import Upgrade
from trainyard.generation.generate import generate
from trainyard.model.identity import Identity
from trainyard.model.manifest import Manifest
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


def _moved(sides: Sides, unedited: Mapping[Identity, Manifest]) -> Iterator[Identity]:
    """Yield the objects of a cluster that differ from the committed ones without an edit."""
    for identity in {*sides.before, *sides.after}:
        sought = (sides.before, unedited, sides.after)
        old, same, new = (_body(each.get(identity)) for each in sought)
        if old != new and same == new:
            yield identity


def _body(manifest: Manifest | None) -> dict[str, Any] | None:
    return manifest.body if manifest else None
