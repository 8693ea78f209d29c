"""What servers drop while operators and tree are of two releases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from trainyard.change.objects import Objects, Sides
from trainyard.change.upgrade import Dropped, ReleaseChange
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import UNLISTED
from trainyard.model.release import Release
from trainyard.schema.manifests import check_manifest


def with_objects(change: ReleaseChange, sides: Sides) -> ReleaseChange:
    """Return the way with what servers drop while they and the tree are of two releases.

    Raises:
        ToolError: a schema is missing or was changed.
    """
    old, new = sides.old, sides.new
    if old is None or new is None or len(change.steps) == 1:
        return change
    merged_first = any(part.is_tree for part in change.steps[0])
    objects, site = (sides.after, old) if merged_first else (sides.before, new)
    return replace(change, dropped=tuple(_dropped(objects, site.cluster.release)))


def _dropped(objects: Objects, release: Release) -> Iterator[Dropped]:
    """Yield what the servers of another release drop of the objects that Argo CD applies."""
    found: dict[str, list[Identity]] = defaultdict(list)
    for manifest in objects.values():
        if manifest.unit not in UNLISTED:
            for _, fault in check_manifest(release.schemas, manifest.body, release.name):
                found[fault].append(identity(manifest))
    for fault, some in sorted(found.items()):
        yield Dropped(fault, tuple(sorted(some)))
