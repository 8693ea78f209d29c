"""Node labels as text."""

from __future__ import annotations

from collections.abc import Mapping


def as_selector(labels: Mapping[str, str]) -> str:
    """Return labels as a label selector: ``key=value`` pairs, separated by commas."""
    return ", ".join(f"{key}={value}" for key, value in labels.items())
