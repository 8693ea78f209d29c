"""The rule on objects that move from one sync unit to another: none is deleted meanwhile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic
from trainyard.model.differences import few
from trainyard.model.manifest import Manifest
from trainyard.rules.change.object_changes_unit import RULE as OBJECT_CHANGES_UNIT

_OPTIONS = "argocd.argoproj.io/sync-options"


def object_changes_unit(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find committed objects that Argo CD may prune and that are in another unit now."""
    moved: dict[tuple[str, str], list[str]] = defaultdict(list)
    for identity, old in replacement.before.items():
        new = replacement.after.get(identity)
        if new and old.unit != new.unit and _may_be_pruned(old):
            moved[old.unit, new.unit].append(f"{new.kind.name} `{new.name}`")
    at = replacement.site.cluster.at / "nodes" / "sync"
    for (old_unit, new_unit), objects in sorted(moved.items()):
        where = (
            f"cluster `{replacement.site.name}` move from `{old_unit}/` to `{new_unit}/` "
            "without `Prune=false`"
        )
        yield OBJECT_CHANGES_UNIT.at(at, f"objects of {where}: {few(objects)}")


def _may_be_pruned(committed: Manifest) -> bool:
    metadata = committed.body.get("metadata", {})
    options: str = metadata.get("annotations", {}).get(_OPTIONS, "")
    return bool(metadata) and "Prune=false" not in options.split(",")
