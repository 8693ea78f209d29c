"""A value on which people depend, in words, and what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

NONE = "none"


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


def yes(value: bool) -> str:
    """Return a truth as a word."""
    return "yes" if value else "no"


def listed(values: Iterable[str]) -> str:
    """Return words in one line."""
    return ", ".join(values) or NONE
