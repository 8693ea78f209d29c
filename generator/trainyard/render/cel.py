"""Values as expressions of admission policies write them (CEL)."""

from __future__ import annotations

from collections.abc import Iterable


def text(value: str) -> str:
    """Return a string; no profile and no release has a quote or a backslash in a name."""
    return f"'{value}'"


def text_list(values: Iterable[str]) -> str:
    """Return a list of strings."""
    return f"[{', '.join(map(text, values))}]"
