"""Plain words for values, types and limits of YAML, shared by what is said of profiles."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

_LONGEST = 60
"""Characters of a user's value that a message repeats."""

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}


def wanted(types: str | list[str]) -> str:
    """Return what the schema asks for: ``text or a whole number``."""
    return " or ".join(_TYPES[each] for each in ([types] if isinstance(types, str) else types))


def found(value: Any) -> str:
    """Return what stands there instead: ``a list``."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int):
        return f"the number {quoted(value)}"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    return _TYPES["array" if isinstance(value, list) else "object"]


def quoted(value: Any) -> str:
    """Return a value between backticks, cut when it is long, escaped when a terminal could not show it."""
    text = value if isinstance(value, str) and value.isprintable() and value else json.dumps(value)
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}`"


def listed(values: Iterable[Any]) -> str:
    """Return values in order, quoted: ``a, b``."""
    return ", ".join(quoted(value) for value in values)


def meant(value: Any, known: Iterable[Any]) -> str:
    """Return ``did you mean `gpus`?`` when a known word is close, else what is known."""
    words = [word for word in known if isinstance(word, str)]
    close = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
    if close:
        return f"did you mean {quoted(close[0])}?"
    return f"known here: {listed(words)}" if words else ""
