"""Keep of an object what some check reads: no value of a variable, no annotation of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.model.facts import TRACKING, Body, Resource

_METADATA = (
    "labels",
    "managedFields.manager",
    "name",
    "namespace",
    "ownerReferences.controller",
    "ownerReferences.kind",
    "ownerReferences.name",
)


def stripped(resource: Resource, body: Body) -> dict[str, Any]:
    """Return an object with the fields that the table names, and parts of its metadata."""
    kept = _kept(body, _tree(("apiVersion", "kind", *resource.keep)))
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping):
        kept["metadata"] = _metadata(metadata)
    return dict(sorted(kept.items()))


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, labels, owners, Argo CD's mark, and who manages fields, each once."""
    kept: dict[str, Any] = _kept(metadata, _tree(_METADATA))
    annotations = metadata.get("annotations")
    if isinstance(annotations, Mapping) and TRACKING in annotations:
        kept["annotations"] = {TRACKING: annotations[TRACKING]}
    if managers := kept.get("managedFields"):
        names = sorted({str(each.get("manager", "")) for each in managers})
        kept["managedFields"] = [{"manager": name} for name in names]
    return dict(sorted(kept.items()))


def _tree(paths: tuple[str, ...]) -> dict[str, Any]:
    """Return dotted paths as nested mappings; an empty one keeps all that is below it."""
    tree: dict[str, Any] = {}
    for path in paths:
        place = tree
        for step in path.split("."):
            place = place.setdefault(step, {})
    return tree


def _kept(value: Any, tree: Mapping[str, Any]) -> Any:
    """Return the part of a value that a tree of paths names."""
    if not tree:
        return value
    if isinstance(value, list):
        return [_kept(each, tree) for each in value if isinstance(each, Mapping)]
    if not isinstance(value, Mapping):
        return {}
    return {key: _kept(value[key], below) for key, below in sorted(tree.items()) if key in value}
