"""Kueue's configuration: whether the tree has one, and the tree's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.model.live import Live

_PATH = "operators/kueue-configuration.yaml"


def has_file(live: Live) -> bool:
    """Return whether Kueue reads a file that the tree has."""
    return bool(of_tree(live))


def of_tree(live: Live) -> Mapping[str, Any]:
    """Return the configuration that the tree has; empty without one."""
    return next((each.body for each in live.manifests if each.path == _PATH), {})


def fields_of(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each dotted key of a configuration with its value; a list is one value."""
    for key, below in sorted(value.items()):
        if isinstance(below, dict) and below:
            yield from fields_of(below, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", below
