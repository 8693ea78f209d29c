"""Resolve the owners of the platform's files."""

from __future__ import annotations

from trainyard.diagnostics import Pointer
from trainyard.model.owners import Owners
from trainyard.resolve.findings import Resolving
from trainyard.resolve.references import find
from trainyard.yaml_io.source import Profiles


def resolve_owners(profiles: Profiles) -> Resolving[Owners]:
    """Return the owners that the settings state, without those of clusters that don't exist."""
    fields = (profiles.settings.value or {}).get("owners", {})
    at = Pointer(profiles.settings.file) / "owners" / "clusters"
    clusters = {}
    for cluster, owners in sorted(fields.get("clusters", {}).items()):
        known = yield from find("cluster", cluster, profiles.clusters, (at / cluster).key())
        if known is not None:
            clusters[cluster] = tuple(sorted(owners))
    kinds = {}
    for kind in sorted(fields.keys() - {"platform", "clusters"}):
        kinds[kind] = tuple(sorted(fields[kind]))
    return Owners(tuple(sorted(fields.get("platform", ()))), kinds, clusters)
