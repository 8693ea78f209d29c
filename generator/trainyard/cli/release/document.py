"""A release, and the difference of two, as JSON."""

from __future__ import annotations

from typing import Any

from trainyard.change.releases import Comparison, Fault, Step, faults_of, schemas_by_kind
from trainyard.model.release import Release


def release_document(release: Release) -> dict[str, Any]:
    """Return all that a release pins."""
    return {
        "name": release.name,
        "digest": release.digest or None,
        "base": release.schemas.base if release.digest else None,
        "tested": release.tested,
        "versions": dict(release.versions),
        "sdk": release.sdk,
        "features": sorted(release.features),
        "groupsPodsets": release.groups_podsets,
        "mostFlavors": release.most_flavors,
        "mostResources": release.most_resources,
        "kinds": sorted(schemas_by_kind(release)),
        "faults": _faults(faults_of(release, release.versions)),
    }


def comparison_document(before: Release, after: Release, found: Comparison) -> dict[str, Any]:
    """Return what differs between two releases."""
    return {
        "before": before.name,
        "after": after.name,
        "versions": found.versions,
        "features": {
            "gained": [each.name for each in found.features if each.after],
            "lost": [each.name for each in found.features if each.before],
        },
        "values": found.fields,
        "changes": dict(found.changes),
        "kinds": {"gained": found.new_kinds, "lost": found.lost_kinds, "changed": found.kinds},
        "steps": [_step(step) for step in found.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "component": step.component,
        "version": step.version,
        "faults": _faults(step.faults),
    }


def _faults(faults: tuple[Fault, ...]) -> list[dict[str, Any]]:
    return [
        {"versions": dict(fault.versions), "consequence": fault.consequence} for fault in faults
    ]
