"""Bars of a fixed number of characters."""

from __future__ import annotations

FILLED, EMPTY, BEYOND = "█", "·", "▶"


def bar(part: int, whole: int, width: int) -> str:
    """Return a bar of ``width`` characters.

    It is empty only for nothing and full only for the whole. A part that exceeds the whole ends
    with an arrow.

    Args:
        part: at least 0.
        whole: at least 0.
        width: at least 2.
    """
    if part > whole:
        return FILLED * (width - 1) + BEYOND
    if not part:
        return EMPTY * width
    cells = width if part == whole else min(max(part * width // whole, 1), width - 1)
    return FILLED * cells + EMPTY * (width - cells)
