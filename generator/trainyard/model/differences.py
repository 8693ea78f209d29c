"""Describe what differs between two plain values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_LONG = 72
"""Longest value that a message shows, characters."""

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
        """Old and new value, or ``differs`` when one is too long for a message."""
        old, new = _shown(self.old), _shown(self.new)
        return f"{old} -> {new}" if old and new else "differs"

    @property
    def whole(self) -> str:
        """Old and new value as JSON in one line, however long they are."""
        old, new = (json.dumps(value, sort_keys=True) for value in (self.old, self.new))
        return f"{old} -> {new}"


def differences(old: Any, new: Any, path: str = "") -> Iterator[Difference]:
    """Yield each field that differs.

    Mappings in a list are compared by name if all have one, else by position if none is added or
    removed.
    """
    if old is new:
        return
    before, after = _members(old, path), _members(new, path)
    if before is None or after is None:
        before, after = _by_position(old, new, path)
    if before is None or after is None:
        if old != new:
            yield Difference(path, old, new)
        return
    for inside in dict.fromkeys((*before, *after)):
        yield from differences(before.get(inside), after.get(inside), inside)


def few(items: Iterable[str]) -> str:
    """Return the first items in a sentence, and how many more there are."""
    every = list(items)
    first = ", ".join(every[:_FEW])
    return f"{first} and {len(every) - _FEW} more" if len(every) > _FEW else first


def _members(value: Any, path: str) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return {f"{path}.{key}".removeprefix("."): each for key, each in value.items()}
    if _are_mappings(value) and all("name" in each for each in value):
        named = {f"{path}[{each['name']}]": each for each in value}
        return named if len(named) == len(value) else None
    return None


def _by_position(
    old: Any, new: Any, path: str
) -> tuple[dict[str, Any], dict[str, Any]] | tuple[None, None]:
    if not (_are_mappings(old) and _are_mappings(new) and len(old) == len(new)):
        return None, None
    places = [f"{path}[{index}]" for index in range(len(old))]
    return dict(zip(places, old, strict=True)), dict(zip(places, new, strict=True))


def _shown(value: Any) -> str:
    """Return a value as one line; empty when it is too long, or has several lines."""
    text = _as_text(value)
    return text if len(text) <= _LONG and "\n" not in text else ""


def _as_text(value: Any) -> str:
    if value is None:
        return "none"
    if _are_mappings(value) and all(len(each) == 1 for each in value):
        return ", ".join(str(*each.values()) for each in value)
    return value if isinstance(value, str) and value else json.dumps(value)


def _are_mappings(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, dict) for each in value)
