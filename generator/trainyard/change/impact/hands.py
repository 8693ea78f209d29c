"""Compare the files that somebody puts into use by hand."""

from __future__ import annotations

from collections import defaultdict

from trainyard.change.impact.model import HandChange, Sides
from trainyard.model.by_hand import NODES_SYNCER, owner_of


def hand_changes(sides: Sides) -> tuple[HandChange, ...]:
    """Return what each person has to do after the merge; sorted."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    before, after = sides.files
    by_itself = sides.new is not None and sides.new.cluster.node_sync == "automatic"
    for path in sorted({*before, *after}):
        change = _change(before.get(path), after.get(path))
        owner = owner_of(path)
        if change and owner and not (by_itself and owner == NODES_SYNCER):
            found[owner, change].append(path)
    return tuple(HandChange(*key, tuple(paths)) for key, paths in sorted(found.items()))


def _change(old: str | None, new: str | None) -> str:
    """Return what happens to a file, by its digests; empty when nothing does."""
    if old is None:
        return "created"
    if new is None:
        return "deleted"
    return "changed" if old != new else ""
