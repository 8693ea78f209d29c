"""Who changed a field on a cluster, and when, as the API server notes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.model.facts import Body, labels_of
from trainyard.model.lookup import mapping, mappings, text, value_at

_DAY = 10
"""Characters of a time that are its date."""
_APPLIED = "kubectl-client-side-apply"
"""Whose fields Argo CD takes over before it applies, so that those that Git lacks are deleted
(argoproj/argo-cd:gitops-engine/pkg/sync/sync_context.go@v3.5.7; seen with Argo CD 3.5.7)."""

_OF_NAMESPACES = "kubernetes.io/metadata.name"
"""The API server gives it to each namespace."""


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


def lost(have: Body, tree: Body, paths: Iterable[str]) -> list[str]:
    """Return what of an object the first sync of an object of the tree deletes: labels, and fields.

    Args:
        have: the object on the cluster.
        tree: that of the tree.
        paths: of fields that the tree may leave to others.
    """
    labels = (f"label {each}" for each in _lost_labels(have, tree))
    entries = mappings(dict(have), "metadata", "managedFields")
    gone = (path for path in paths if value_at(dict(tree), path) is None)
    return [*labels, *(path for path in gone if _managers(entries, path) == {_APPLIED})]


def _managers(entries: Iterable[Mapping[str, Any]], path: str) -> set[str]:
    """Return who manages a field."""
    having = (each for each in entries if _has(mapping(dict(each), "fieldsV1"), path))
    return {text(dict(each), "manager") for each in having}


def _lost_labels(have: Body, tree: Body) -> list[str]:
    """Return the labels that go, sorted."""
    entries = mappings(dict(have), "metadata", "managedFields")
    applied, others = set[str](), {f"f:{key}" for key in mapping(dict(tree), "metadata", "labels")}
    for entry in entries:
        own = applied if text(entry, "manager") == _APPLIED else others
        own.update(mapping(entry, "fieldsV1", "f:metadata", "f:labels"))
    return sorted(key.removeprefix("f:") for key in applied - others if key != ".")


def doubtful_labels(have: Body, tree: Body) -> list[str]:
    """Return the labels that an object of the tree lacks, where nobody knows who wrote them.

    Args:
        have: the object as it was dumped; one without managers, from a dump without them.
        tree: that of the tree.
    """
    if mappings(dict(have), "metadata", "managedFields"):
        return []
    known = {*mapping(dict(tree), "metadata", "labels"), _OF_NAMESPACES}
    return sorted(labels_of(have).keys() - known)


def _last(entries: tuple[dict[str, Any], ...], path: str) -> str:
    """Return who last wrote a field, among those who manage it."""
    return _latest(entry for entry in entries if _has(mapping(entry, "fieldsV1"), path))


def _has(fields: Mapping[str, Any], path: str) -> bool:
    """Return whether a manager has a field.

    Members of lists are not followed: who has some of them, may have this one. A label may have
    dots: the longest key that fits counts.
    """
    rest, below = path, fields
    while rest and not rest.startswith("["):
        keys = (key for key in below if key.startswith("f:") and _begins(rest, key[len("f:") :]))
        key = max(keys, key=len, default=None)
        if key is None:
            # Who manages a list or mapping as a whole, manages all that is in it.
            return rest != path and not below
        rest, below = rest[len(key) - len("f:") :].removeprefix("."), mapping(dict(below), key)
    return True


def _begins(path: str, key: str) -> bool:
    return path == key or path.startswith((f"{key}.", f"{key}["))


def _latest(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the manager of the last entry, with its day."""
    last = max(entries, key=lambda entry: text(dict(entry), "time"), default=None)
    if last is None or not text(dict(last), "manager"):
        return ""
    day = text(dict(last), "time")[:_DAY]
    return f"since {day} by {last['manager']}" if day else f"by {last['manager']}"
