"""Describe what differs between two plain values."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_LONG = 72
"""Longest value that a message shows, characters."""

_PART, _BEFORE = 200, 60
"""Characters of a value that an excerpt shows, and those of them before the first difference."""

_FEW = 3
_ABSENT = "none"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs.

    Args:
        path: from the root of the value, e.g. ``containers[node].image``.
        old, new: None where the field is not there, or has no value.
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
        return f"{json.dumps(self.old, sort_keys=True)} -> {json.dumps(self.new, sort_keys=True)}"

    @property
    def excerpt(self) -> str:
        """Old and new value; of those that are too long, what differs.

        That is what is around the first difference. Of lists it is the members that the other one
        lacks.
        """
        if self.display != "differs":
            return self.display
        if len(self.whole) <= 2 * _PART:
            return self.whole
        stay, was, now = _without_common(self.old, self.new)
        old, new = (json.dumps(value, sort_keys=True) for value in (was, now))
        begin = max(_in_common(old, new) - _BEFORE, 0)
        beside = f"beside {stay} that stay: " if stay else ""
        return f"{beside}{_part(old, begin)} -> {_part(new, begin)}"


def _without_common(old: Any, new: Any) -> tuple[int, Any, Any]:
    """Return how many members of two lists stay, and both without them; other values as they are.

    Members that only change places are shown.
    """
    if not (isinstance(old, list) and isinstance(new, list)):
        return 0, old, new
    gone, come = _lacking(old, new), _lacking(new, old)
    return (len(old) - len(gone), gone, come) if gone or come else (0, old, new)


def _lacking(one: list[Any], other: list[Any]) -> list[Any]:
    """Return the members of a list that another one lacks."""
    return [member for member in one if member not in other]


def _in_common(one: str, other: str) -> int:
    """Return how many characters at the begin of two texts are the same."""
    for place, (mine, others) in enumerate(zip(one, other, strict=False)):
        if mine != others:
            return place
    return min(len(one), len(other))


def _part(text: str, begin: int) -> str:
    end = begin + _PART
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"


def differences(old: Any, new: Any, path: str = "") -> Iterator[Difference]:
    """Yield each field that differs.

    Mappings in a list are compared by name if all have one, else by position if none is added or
    removed. Another order of names is a difference of the list, with nothing but the names.
    """
    if old == new:
        return
    before, after = _aligned(old, new, path)
    if before is not None and after is not None:
        if isinstance(old, list) and _order(before, after) != _order(after, before):
            yield Difference(path, _names(old), _names(new))
        yield from _inside(before, after)
    else:
        yield Difference(path, old, new)


def _inside(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Difference]:
    for inside in dict.fromkeys((*before, *after)):
        one, other = before.get(inside), after.get(inside)
        yield from differences(one, other, inside)
        if one is other is None and (inside in before) != (inside in after):
            yield Difference(inside, None, None)


def few(items: Iterable[str]) -> str:
    """Return the first items in a sentence, and how many more there are."""
    every = list(items)
    first = ", ".join(every[:_FEW])
    return f"{first} and {len(every) - _FEW} more" if len(every) > _FEW else first


def _order(one: Iterable[str], other: Collection[str]) -> list[str]:
    """Return what two lists have in common, in the order of the first."""
    return [name for name in one if name in other]


def _names(members: Any) -> list[dict[str, Any]]:
    return [{"name": member["name"]} for member in members if "name" in member]


def _members(value: Any, path: str) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return {f"{path}.{key}".removeprefix("."): member for key, member in value.items()}
    if _are_mappings(value) and all("name" in member for member in value):
        named = {f"{path}[{member['name']}]": member for member in value}
        return named if len(named) == len(value) else None
    return None


def _aligned(
    old: Any, new: Any, path: str
) -> tuple[dict[str, Any], dict[str, Any]] | tuple[None, None]:
    """Return the members of both values by their paths; None where they can't be compared."""
    before, after = _members(old, path), _members(new, path)
    if before is not None and after is not None:
        return before, after
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
        return _ABSENT
    if _is_variable(value):
        # Its name is in the path.
        return _as_text(value["value"])
    if _are_single(value):
        return ", ".join(str(*member.values()) for member in value)
    # The word `none` of a profile is a value: it is quoted, and an absent one is not.
    is_plain = isinstance(value, str) and value not in {"", _ABSENT}
    return str(value) if is_plain else json.dumps(value)


def _are_single(value: Any) -> bool:
    """Return whether a value is a list of mappings of one key each."""
    return _are_mappings(value) and all(len(member) == 1 for member in value)


def _is_variable(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"name", "value"}


def _are_mappings(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(member, dict) for member in value)
