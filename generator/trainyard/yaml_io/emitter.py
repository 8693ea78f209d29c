"""Write plain data as YAML that readers of YAML 1.1, YAML 1.2 and Go read alike.

PyYAML's emitter is not used: it folds long lines, leaves ``1e3`` and ``0o17`` unquoted, and takes
milliseconds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trainyard.yaml_io.scalars import HIDDEN, inline
from trainyard.yaml_io.source import Plain

_MAX_KEY: Final = 1000
"""Longest key, characters: libyaml looks 1024 ahead for its colon (src/scanner.c,
yaml_parser_stale_simple_keys)."""

_EMPTY: Final[dict[type, str]] = {dict: "{}", list: "[]"}
_NO_BLOCK: Final = re.compile(rf"\A[ \t\n]|[ \t](?:\n|\Z)|{HIDDEN.pattern}")


def emit(body: Plain, header: str = "") -> bytes:
    """Return a document as UTF-8 block YAML, keys in their own order.

    Args:
        body: plain data (dict, list, str, int, bool, None).
        header: text of the comment on top, a line of it on a line.

    Raises:
        TypeError: the data holds anything else, a float above all, or a key that is not a string.
        ValueError: a string holds half a surrogate pair, or a key has more than 1000 characters.
    """
    out = [f"# {line}".rstrip() for line in header.splitlines()]
    if type(body) is dict and body:
        _mapping(out, body, "", "")
    elif type(body) is list and body:
        _sequence(out, body, "", "")
    else:
        _value(out, "", body, "")
    return "\n".join([*out, ""]).encode()


def _mapping(out: list[str], body: dict[Plain, Plain], lead: str, indent: str) -> None:
    """Append a mapping.

    Its first line begins with ``lead``, such as ``- ``, and the others with ``indent``.
    """
    for key, value in body.items():
        head = f"{lead}{_key(key)}:"
        lead = indent
        if type(value) is str and "\n" not in value:
            out.append(f"{head} {inline(value)}")
        elif type(value) is dict and value:
            out.append(head)
            _mapping(out, value, indent + "  ", indent + "  ")
        elif type(value) is list and value:
            out.append(head)
            _sequence(out, value, indent, indent)
        else:
            _value(out, f"{head} ", value, indent)


@lru_cache(maxsize=8192)
def _key(key: Plain) -> str:
    if type(key) is not str:
        raise TypeError(f"{key!r} is not a key: it is not a string")
    if len(key) > _MAX_KEY:
        raise ValueError(f"a key of {len(key)} characters, more than {_MAX_KEY}")
    return inline(key)


def _sequence(out: list[str], body: list[Plain], lead: str, indent: str) -> None:
    """Append a list; ``lead`` and ``indent`` as for a mapping."""
    inner = indent + "  "
    for item in body:
        if type(item) is dict and item:
            _mapping(out, item, f"{lead}- ", inner)
        elif type(item) is list and item:
            _sequence(out, item, f"{lead}- ", inner)
        else:
            _value(out, f"{lead}- ", item, indent)
        lead = indent


def _value(out: list[str], head: str, value: Plain, indent: str) -> None:
    """Append a scalar or an empty collection after ``head``."""
    block = _block(value, indent + "  ") if type(value) is str and "\n" in value else ()
    if block:
        out.append(head + block[0])
        out.extend(block[1:])
    else:
        out.append(head + _scalar(value))


def _scalar(value: Plain) -> str:
    """Return a scalar or an empty collection on one line."""
    kind = type(value)
    if kind is str:
        return inline(value)
    if kind is int:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if kind in _EMPTY:
        return _EMPTY[kind]
    raise TypeError(f"{value!r} is not plain data: {kind.__name__}")


@lru_cache(maxsize=256)
def _block(value: str, indent: str) -> tuple[str, ...]:
    """Return the lines of a literal block; none where the text can't be one.

    Trees have few different ones, such as scripts, and many copies of each.
    """
    if _NO_BLOCK.search(value):
        return ()
    ending = "-" if not value.endswith("\n") else "+" if value.endswith("\n\n") else ""
    lines = value.split("\n") if ending == "-" else value[:-1].split("\n")
    return (f"|{ending}", *(indent + line if line else "" for line in lines))
