"""Versions as numbers."""

from __future__ import annotations


def numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, so that 0.9 comes before 0.10; an open bound has none and comes before all."""
    return tuple(int(part) for part in version.split(".") if part)
