"""Values as expressions of admission policies write them (CEL)."""

from __future__ import annotations

from collections.abc import Iterable


def text(value: str) -> str:
    """Return a string; no profile and no release has a quote or a backslash in a name."""
    return f"'{value}'"


def text_list(values: Iterable[str]) -> str:
    """Return a list of strings."""
    return f"[{', '.join(map(text, values))}]"


def starts_with(value: str, prefixes: Iterable[str]) -> str:
    """Return whether an expression begins with one of some strings."""
    return " || ".join(f"{value}.startsWith({text(prefix)})" for prefix in prefixes)


def is_one_of(value: str, wanted: Iterable[str]) -> str:
    """Return whether an expression is one of some names, which may begin or end with ``*``."""
    listed = sorted(wanted)
    named = [name for name in listed if "*" not in name]
    tests = [f"{value} in {text_list(named)}"] if named else []
    for name in listed:
        if name.endswith("*"):
            tests.append(f"{value}.startsWith({text(name.removesuffix('*'))})")
        elif name.startswith("*"):
            tests.append(f"{value}.endsWith({text(name.removeprefix('*'))})")
    return f"({' || '.join(tests)})"
