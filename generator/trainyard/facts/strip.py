"""Keep of an object what some check reads: no value of a variable, no annotation of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.model.facts import BOUND, INSTALLATION, TRACKING, Body, Resource, digest
from trainyard.model.readable import is_compared

_METADATA = (
    "labels",
    "name",
    "namespace",
    "ownerReferences.controller",
    "ownerReferences.kind",
    "ownerReferences.name",
)
_READ = frozenset({INSTALLATION, TRACKING, BOUND})
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_NAMED = '"volumeName":'
"""In what somebody applied: a claim that names its volume. A copy of one that was bound has the
annotation too."""
_VARIABLES = "env"
"""Key of a container with its variables."""


def stripped(resource: Resource, body: Body) -> dict[str, Any]:
    """Return an object with the fields that the table names, and parts of its metadata."""
    plain = ("apiVersion", "kind", *resource.keep, *resource.compared)
    kept = _kept(body, _tree((*plain, *resource.digested)))
    if resource.compared:
        kept = _without_values(kept)
    if resource.digested:
        kept = _with_digests(kept, _tree(resource.digested))
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping):
        kept["metadata"] = _metadata(resource, metadata)
    return dict(sorted(kept.items()))


def _metadata(resource: Resource, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, labels, owners, annotations that are read, and who manages fields, each once."""
    kept: dict[str, Any] = _kept(metadata, _tree(_METADATA))
    annotations = metadata.get("annotations")
    if isinstance(annotations, Mapping):
        read = _annotations(resource, annotations)
        kept |= {"annotations": read} if read else {}
    entries = metadata.get("managedFields")
    if isinstance(entries, list):
        kept["managedFields"] = _managers(resource, [each for each in entries if _is_entry(each)])
    return dict(sorted(kept.items()))


def _annotations(resource: Resource, annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotations that are read."""
    read = {key: text for key, text in sorted(annotations.items()) if _is_read(resource, key)}
    if _NAMED in str(annotations.get(_APPLIED)):
        read.pop(BOUND, None)
    return read


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, Mapping)


def _managers(resource: Resource, entries: list[Any]) -> list[dict[str, Any]]:
    """Return who manages an object; of fields that are compared, which of them and since when."""
    if resource.compared:
        return list(_managed(resource, entries))
    names = sorted({str(each.get("manager", "")) for each in entries})
    return [{"manager": name} for name in names]


def _is_read(resource: Resource, annotation: str) -> bool:
    return annotation in _READ or (bool(resource.compared) and is_compared(annotation))


def _managed(resource: Resource, entries: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield who manages which of the fields that are compared, since when.

    The API server writes them as keys of mappings that begin with ``f:``.
    """
    paths = ("metadata.labels", "metadata.annotations", *resource.compared)
    fields = _tree(tuple(".".join(f"f:{step}" for step in path.split(".")) for path in paths))
    for entry in entries:
        known = {key: str(entry.get(key, "")) for key in ("manager", "time")}
        yield {"fieldsV1": _kept(entry.get("fieldsV1"), fields), **known}


def _without_values(value: Any) -> Any:
    """Return a value in which variables have nothing but their names."""
    if isinstance(value, list):
        return [_without_values(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _named(key, each) for key, each in value.items()}


def _named(key: str, value: Any) -> Any:
    if key != _VARIABLES or not isinstance(value, list):
        return _without_values(value)
    return [{"name": each.get("name")} for each in value if isinstance(each, Mapping)]


def _tree(paths: tuple[str, ...]) -> dict[str, Any]:
    """Return dotted paths as nested mappings; an empty one keeps all that is below it."""
    tree: dict[str, Any] = {}
    for path in paths:
        place = tree
        for step in _steps(path):
            if step in place and not place[step]:
                break
            place = place.setdefault(step, {})
        else:
            place.clear()
    return tree


def _steps(path: str) -> list[str]:
    """Return the keys of a path, e.g. ``data[a.b]`` or ``spec.source``."""
    dotted, _, last = path.partition("[")
    return [*dotted.split("."), *([last.removesuffix("]")] if last else [])]


def _with_digests(value: Any, tree: Mapping[str, Any]) -> Any:
    """Return a value with digests in place of the texts that a tree of paths names."""
    if not tree:
        return digest(value) if isinstance(value, str) else ""
    if isinstance(value, list):
        return [_with_digests(each, tree) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: _with_digests(each, tree[key]) if key in tree else each for key, each in value.items()
    }


def _kept(value: Any, tree: Mapping[str, Any]) -> Any:
    """Return the part of a value that a tree of paths names."""
    if not tree:
        return value
    if isinstance(value, list):
        return [_kept(each, tree) for each in value if isinstance(each, Mapping)]
    if not isinstance(value, Mapping):
        return {}
    return {key: _kept(value[key], below) for key, below in sorted(tree.items()) if key in value}
