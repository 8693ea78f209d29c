"""Values as expressions of admission policies write them (CEL)."""

from __future__ import annotations

from collections.abc import Iterable


def text(value: str) -> str:
    """Return a string; no profile and no release has a quote or a backslash in a name."""
    return f"'{value}'"


def text_list(values: Iterable[str]) -> str:
    """Return a list of strings."""
    return f"[{', '.join(map(text, values))}]"


def is_named(value: str, patterns: Iterable[str]) -> str:
    """Return a test: an expression is one of some names; one that ends with ``*`` is a prefix."""
    listed = [*patterns]
    literal = [each for each in listed if not each.endswith("*")]
    prefixes = [each.removesuffix("*") for each in listed if each.endswith("*")]
    tests = [f"{value} in {text_list(literal)}"]
    tests += [f"{value}.startsWith({text(prefix)})" for prefix in prefixes]
    return f"({' || '.join(tests)})"
