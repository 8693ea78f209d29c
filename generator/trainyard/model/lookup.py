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
    if not steps:
        yield path, value
    elif steps[0] == EVERY:
        for i, each in enumerate(value if isinstance(value, list) else ()):
            yield from lookup(each, steps[1:], (*path, i))
    elif isinstance(value, dict) and steps[0] in value:
        yield from lookup(value[steps[0]], steps[1:], (*path, steps[0]))


def mapping(value: Any, *steps: str) -> dict[str, Any]:
    """Return the mapping that the steps lead to, empty when there is none."""
    return next((found for _, found in lookup(value, steps) if isinstance(found, dict)), {})


def mappings(value: Any, *steps: str) -> tuple[dict[str, Any], ...]:
    """Return the mappings in the list that the steps lead to, empty when there is none."""
    return tuple(each for _, each in lookup(value, (*steps, EVERY)) if isinstance(each, dict))


def texts(value: Any, *steps: str) -> tuple[str, ...]:
    """Return the strings in the list that the steps lead to, empty when there is none."""
    return tuple(each for _, each in lookup(value, (*steps, EVERY)) if isinstance(each, str))


def text(value: Any, *steps: str) -> str:
    """Return the string that the steps lead to, empty when there is none."""
    return next((found for _, found in lookup(value, steps) if isinstance(found, str)), "")


def value_at(body: dict[str, Any], field: str) -> Any:
    """Return the value at a dotted path; None where nothing is."""
    value: Any = body
    for key in field.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
