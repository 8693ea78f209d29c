"""Add an entry to a YAML file and keep its comments, order and quotes, with ruamel.yaml."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import CommentMark
from ruamel.yaml.scalarstring import DoubleQuotedScalarString
from ruamel.yaml.tokens import CommentToken

from trainyard.diagnostics import TreeError
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.scalars import is_typed

_COMMENT = re.compile("#.*")
_INDENT = re.compile("^( +)[^ #\\n]", re.MULTILINE)
Entry = str | Mapping[str, str | int]
_Leaf = tuple[CommentedMap, str]
_END_OF_LINE = 2
"""Index at which ruamel.yaml keeps the comment of a key and all lines up to the next key."""


def append(content: bytes, path: tuple[str, ...], entry: Entry) -> bytes:
    """Return a file with one more entry, last in its mapping.

    Args:
        content: a file of the dialect whose keys and values hold no ``#``; it has no entry at that
            path yet.
        path: keys down to the new entry; mappings on the way are made when they are not there.
        entry: plain text, or plain text and numbers by key, written on one line.

    Raises:
        TreeError: a comment would be lost, as those inside ``{}`` are, or the file would be too
            large to be read.
    """
    text = content.decode().removeprefix("\ufeff").replace("\r\n", "\n")
    yaml = _yaml(text)
    document = yaml.load(text)
    _insert(document, path, _line(entry))
    out = io.StringIO()
    yaml.dump(document, out)
    _verify(text, out.getvalue(), path, entry)
    return out.getvalue().encode()


def _yaml(text: str) -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096  # never folds a line that the user left whole
    if indent := _INDENT.search(text):
        yaml.indent(mapping=len(indent[1]))
    return yaml


def _line(entry: Entry) -> Any:
    """Return an entry as it is written on one line."""
    if isinstance(entry, str):
        return _scalar(entry)
    line = CommentedMap((key, _scalar(value)) for key, value in entry.items())
    line.fa.set_flow_style()
    return line


def _scalar(value: str | int) -> Any:
    """Return a value with quotes where YAML would read another one, or end it at a comma."""
    if isinstance(value, str) and (is_typed(value) or "," in value):
        return DoubleQuotedScalarString(value)
    return value


def _insert(document: CommentedMap, path: tuple[str, ...], line: Any) -> None:
    """Put an entry into its mapping.

    The lines below its predecessor are the head of the next section, so they go below the entry.
    """
    mapping, leaf, steps = document, _last_leaf(document), list(path)
    while steps[0] in mapping:
        leaf = _leaf(mapping, steps[0])
        mapping = mapping[steps.pop(0)]
    for step in reversed(steps[1:]):
        line = CommentedMap({_scalar(step): line})
    tail = _cut_tail(leaf)
    if not mapping:
        mapping.fa.set_block_style()
    mapping[_scalar(steps[0])] = line
    if tail:
        home, key = _leaf(mapping, steps[0])
        home.ca.items[key] = [None, None, CommentToken("\n" + tail, CommentMark(0), None), None]


def _leaf(mapping: CommentedMap, key: str) -> _Leaf:
    """Return the last key, at or below this one, that has a line of its own.

    ruamel.yaml keeps the lines that follow there.
    """
    value = mapping[key]
    inside = isinstance(value, CommentedMap) and not value.fa.flow_style()
    return (_last_leaf(value) if inside else None) or (mapping, key)


def _last_leaf(mapping: CommentedMap) -> _Leaf | None:
    return _leaf(mapping, next(reversed(mapping))) if mapping else None


def _cut_tail(leaf: _Leaf | None) -> str:
    """Remove and return the lines that follow a key's line; the comment on its own line stays."""
    comments = leaf[0].ca.items.get(leaf[1]) if leaf else None
    token = comments[_END_OF_LINE] if comments else None
    if token is None:
        return ""
    own, _, tail = token.value.partition("\n")
    token.value = own + "\n"
    return str(tail)


def _verify(before: str, after: str, path: tuple[str, ...], entry: Entry) -> None:
    """Stop before a file is harmed: it must hold what it held, the new entry and every comment."""
    (old, _), (new, problems) = read("", before.encode()), read("", after.encode())
    # The reader gives every caller the same value of the same text.
    value = deepcopy(old.value)
    mapping: dict[str, Any] = value
    for key in path[:-1]:
        mapping = mapping.setdefault(key, {})
    mapping[path[-1]] = entry if isinstance(entry, str) else dict(entry)
    if problems:
        raise TreeError(f"the entry can't be added: {problems[0].message}")
    assert new.value == value, "the file would not hold what is meant"
    if _COMMENT.findall(after) != _COMMENT.findall(before):
        raise TreeError(
            "a comment inside braces would be lost; move it to the end of its line and try again"
        )
