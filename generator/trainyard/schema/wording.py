"""Words for YAML values and types in messages about profiles."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from trainyard.model.nearest import nearest

_LONGEST = 60
"""Maximum number of characters of a user's value that a message repeats."""

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}


def wanted(types: str | list[str]) -> str:
    """Return the types that a schema allows, as text: ``text or a whole number``."""
    several = [types] if isinstance(types, str) else types
    return " or ".join(_TYPES[each] for each in several)


def found(value: Any) -> str:
    """Return a value of a wrong type as text, e.g. ``the number `64` `` or ``a list``."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int):
        return f"the number {quoted(value)}"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    return _TYPES["array" if isinstance(value, list) else "object"]


def quoted(value: Any) -> str:
    """Return a value in backticks: cut when it is long, escaped when it is not printable."""
    text = value if isinstance(value, str) and value.isprintable() and value else json.dumps(value)
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}`"


def listed(values: Iterable[Any]) -> str:
    """Return values in their order, each in backticks, separated by commas."""
    return ", ".join(quoted(value) for value in values)


def meant(value: Any, known: Iterable[Any]) -> str:
    """Return a hint with the known word that is closest to a value, or else all known words."""
    words = [word for word in known if isinstance(word, str)]
    if near := nearest(value, words) if isinstance(value, str) else "":
        return f"did you mean {quoted(near)}?"
    return f"Use one of: {listed(words)}." if words else ""
