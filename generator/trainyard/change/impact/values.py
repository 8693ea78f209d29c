"""A value on which people depend, in words, and what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

NONE = "none"
_Key = TypeVar("_Key", bound=str | tuple[Any, ...])
_Value = TypeVar("_Value")


class Fact(NamedTuple):
    """What a value is about; each value differs for itself.

    Args:
        topic: heading of the lines that it belongs to.
        subject: whose value it is.
        what: the value is; empty where the subject says it.
    """

    topic: str
    subject: str
    what: str = ""


Facts = Iterator[tuple[Fact, str]]


def differing(
    before: Mapping[_Key, _Value], after: Mapping[_Key, _Value]
) -> Iterator[tuple[_Key, _Value, _Value]]:
    """Yield each key on both sides whose value differs, with both values; sorted."""
    for key in sorted(before.keys() & after.keys()):
        if before[key] != after[key]:
            yield key, before[key], after[key]


def differing_or_absent(
    before: Mapping[_Key, _Value], after: Mapping[_Key, _Value], absent: _Value
) -> Iterator[tuple[_Key, _Value, _Value]]:
    """Yield each key whose value differs, or that one side lacks; sorted."""
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            yield key, before.get(key, absent), after.get(key, absent)


def yes(value: bool) -> str:
    """Return a truth as a word."""
    return "yes" if value else "no"


def listed(values: Iterable[str]) -> str:
    """Return words in one line."""
    return ", ".join(values) or NONE
