"""Comparison of version numbers."""

from __future__ import annotations


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version for comparison: 0.9 is lower than 0.10.

    An empty version, which stands for an open lower bound, is lower than all others.
    """
    return tuple(int(part) for part in version.split(".") if part)
