"""Label selectors of Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.model.lookup import mapping, mappings, text, texts


def selects(selector: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a selector selects what has some labels; an empty one everything."""
    stated = mapping(selector, "matchLabels")
    return stated.items() <= labels.items() and all(
        _meets(each, labels) for each in mappings(selector, "matchExpressions")
    )


def _meets(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(text(requirement, "key"))
    values: tuple[str | None, ...] = texts(requirement, "values")
    match text(requirement, "operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return False
