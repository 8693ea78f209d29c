"""Who changed a field on a cluster, and when, as the API server notes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.model.facts import Body
from trainyard.model.lookup import mapping, mappings, text

_DAY = 10
"""Characters of a time that are its date."""


def since(have: Body, paths: Iterable[str]) -> str:
    """Return since when and by whom fields have their values, e.g. ``since 2026-11-20 by kubectl``.

    Args:
        have: an object of the cluster.
        paths: of the fields, from the root of the object.

    Returns:
        Empty where nobody manages such a field: the API server does not note who removed one.
    """
    entries = mappings(dict(have), "metadata", "managedFields")
    found = {words for path in paths if (words := _last(entries, path))}
    return " and ".join(sorted(found))


def made(have: Body) -> str:
    """Return since when and by whom an object is as it is; empty where that is not known."""
    return _latest(mappings(dict(have), "metadata", "managedFields"))


def _last(entries: tuple[dict[str, Any], ...], path: str) -> str:
    """Return who last wrote a field, among those who manage the most of its path."""
    depths = [(_depth(mapping(entry, "fieldsV1"), path), entry) for entry in entries]
    deepest = max((depth for depth, _ in depths), default=0)
    return _latest(entry for depth, entry in depths if depth == deepest and deepest)


def _depth(fields: Mapping[str, Any], path: str) -> int:
    """Return how many steps of a path a manager has; members of lists are not followed.

    A label may have dots: the longest key that fits counts.
    """
    rest, depth = path, 0
    while rest:
        keys = (key for key in fields if _begins(rest, key.removeprefix("f:")))
        key = max((each for each in keys if each.startswith("f:")), key=len, default=None)
        if key is None:
            return depth
        rest, depth = rest[len(key) - 2 :].lstrip("."), depth + 1
        fields = mapping(dict(fields), key)
    return depth


def _begins(path: str, key: str) -> bool:
    return path == key or path.startswith((f"{key}.", f"{key}["))


def _latest(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the manager of the last entry, with its day."""
    last = max(entries, key=lambda entry: text(dict(entry), "time"), default=None)
    if last is None or not text(dict(last), "manager"):
        return ""
    day = text(dict(last), "time")[:_DAY]
    return f"since {day} by {last['manager']}" if day else f"by {last['manager']}"
