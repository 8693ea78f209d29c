"""What differs between two plain values, in words for a person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_LONG = 72
"""Characters of a value that are still read in a message."""

_FEW = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs.

    Args:
        path: from the root of the value, e.g. ``containers[node].image``.
        old, new: None where the field is not there.
    """

    path: str
    old: Any
    new: Any

    @property
    def display(self) -> str:
        """From what to what; text that is too long to be read here is only said to differ."""
        values = (_told(self.old), _told(self.new))
        return " -> ".join(values) if all(values) else "differs"


def differences(old: Any, new: Any, path: str = "") -> Iterator[Difference]:
    """Yield each field that differs; members of a list go by their names where all have one."""
    before, after = _members(old, path), _members(new, path)
    if before is None or after is None:
        if old != new:
            yield Difference(path, old, new)
        return
    for inside in dict.fromkeys((*before, *after)):
        yield from differences(before.get(inside), after.get(inside), inside)


def few(items: Iterable[str]) -> str:
    """Return the first items in a sentence, and how many more there are."""
    each = list(items)
    return ", ".join(each[:_FEW]) + (f" and {len(each) - _FEW} more" if len(each) > _FEW else "")


def _members(value: Any, path: str) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return {f"{path}.{key}".removeprefix("."): each for key, each in value.items()}
    if (
        isinstance(value, list)
        and value
        and all(isinstance(each, dict) and "name" in each for each in value)
    ):
        return {f"{path}[{each['name']}]": each for each in value}
    return None


def _told(value: Any) -> str:
    if value is None:
        return "none"
    if (
        isinstance(value, list)
        and value
        and all(isinstance(each, dict) and len(each) == 1 for each in value)
    ):
        value = ", ".join(str(inside) for each in value for inside in each.values())
    text = value if isinstance(value, str) and value else json.dumps(value)
    return text if len(text) <= _LONG and "\n" not in text else ""
