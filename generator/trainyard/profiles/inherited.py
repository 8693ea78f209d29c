"""What a release has of the one that it extends: each file says only what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXTENDS = "extends"
"""Key of a release's file: the release whose fields hold where it states none."""


def whole(name: str, stated: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return all fields of a release.

    A mapping is merged key by key; every other value, a list too, takes the place of the other.

    Args:
        name: of the release.
        stated: the fields that each release states itself, by name.
    """
    own = {key: value for key, value in stated[name].items() if key != EXTENDS}
    base = stated[name].get(EXTENDS, "")
    return _over(whole(base, stated), own) if base else own


def _over(below: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with those of another mapping over them, in the order of the first."""
    merged = dict(below)
    for key, value in own.items():
        is_merged = isinstance(value, Mapping) and isinstance(below.get(key), Mapping)
        merged[key] = _over(below[key], value) if is_merged else value
    return merged
