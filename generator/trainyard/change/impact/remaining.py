"""Objects that leave the tree and stay on the cluster."""

from __future__ import annotations

from dataclasses import replace

from trainyard.change.objects import Objects, Sides
from trainyard.model.lookup import text
from trainyard.model.manifest import UNLISTED, Manifest

_OPTIONS = "argocd.argoproj.io/sync-options"


def on_cluster(sides: Sides) -> Sides:
    """Return both sides as the cluster has them: what is left behind is there afterwards."""
    units = units_of(sides.after)
    after = dict(sides.after)
    for identity, manifest in sides.before.items():
        if identity not in after and why_it_stays(units, manifest):
            after[identity] = manifest
    return replace(sides, after=after)


def units_of(objects: Objects) -> frozenset[str]:
    """Return the sync units that have objects."""
    return frozenset(manifest.unit for manifest in objects.values())


def why_it_stays(units: frozenset[str], old: Manifest) -> str:
    """Return why an object that leaves the tree stays on the cluster; empty when it does not.

    Argo CD no longer compares a unit without a folder: `ComparisonError ... app path does not
    exist`. What has ``Prune=false`` is `ignored (no prune)` (both seen with Argo CD 3.5.7).

    Args:
        units: that still have objects.
        old: the object.
    """
    if old.unit in UNLISTED:
        return ""
    if old.unit not in units:
        return f"Argo CD deletes nothing of `{old.unit}/`, a folder that is gone"
    options = text(old.body, "metadata", "annotations", _OPTIONS)
    if "Prune=false" in options.split(","):
        return "it stays on the cluster until somebody deletes it (`Prune=false`)"
    return ""
