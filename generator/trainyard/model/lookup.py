"""Safe lookups in unvalidated data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Step

EVERY = "*"
"""Step to each member of a list."""


def lookup(
    value: Any, steps: tuple[str, ...], path: tuple[Step, ...] = ()
) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield the path and value of everything that the steps lead to, without other shapes."""
    for position, step in enumerate(steps):
        if step == EVERY:
            for i, each in enumerate(value if isinstance(value, list) else ()):
                yield from lookup(each, steps[position + 1 :], (*path, i))
            return
        if not isinstance(value, dict) or step not in value:
            return
        value, path = value[step], (*path, step)
    yield path, value


def mapping(value: Any, *steps: str) -> dict[str, Any]:
    """Return the mapping that the steps lead to, empty when there is none."""
    return next((found for _, found in lookup(value, steps) if isinstance(found, dict)), {})


def mappings(value: Any, *steps: str) -> tuple[dict[str, Any], ...]:
    """Return the mappings in the list that the steps lead to, empty when there is none."""
    return tuple(found for _, found in lookup(value, (*steps, EVERY)) if isinstance(found, dict))


def texts(value: Any, *steps: str) -> tuple[str, ...]:
    """Return the strings in the list that the steps lead to, empty when there is none."""
    return tuple(found for _, found in lookup(value, (*steps, EVERY)) if isinstance(found, str))


def text(value: Any, *steps: str) -> str:
    """Return the string that the steps lead to, empty when there is none."""
    return next((found for _, found in lookup(value, steps) if isinstance(found, str)), "")


def value_at(body: dict[str, Any], field: str) -> Any:
    """Return the value at a dotted path; None where nothing is."""
    value: Any = body
    for key in field.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
