"""Adding an entry to a YAML file so that everything else in it stays: comments, order and quotes. Home of ruamel.yaml."""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import CommentMark
from ruamel.yaml.scalarstring import DoubleQuotedScalarString
from ruamel.yaml.tokens import CommentToken

from generator.dialect.reader import read
from generator.dialect.source import Plain

_COMMENT = re.compile("#.*")
_END_OF_LINE = 2
"""Where ruamel.yaml keeps what follows a key's value: its comment, and all lines up to the next key."""


def append(content: bytes, path: tuple[str, ...], entry: Mapping[str, str], *, quoted: str) -> bytes:
    """Return a file with one more entry, last in its mapping.

    Args:
        content: a file of the dialect whose keys and values hold no ``#``; it has no entry at that path yet.
        path: keys down to the new entry; mappings on the way are made when they are not there.
        entry: plain text by key, written on one line.
        quoted: the key whose value stands in double quotes.
    """
    text = content.decode().removeprefix("\ufeff").replace("\r\n", "\n")
    yaml = _yaml()
    document = yaml.load(text)
    *parents, last = path
    line = CommentedMap((key, DoubleQuotedScalarString(text) if key == quoted else text) for key, text in entry.items())
    line.fa.set_flow_style()
    _insert(document, parents, last, line)
    out = io.StringIO()
    yaml.dump(document, out)
    written = out.getvalue().encode()
    _verify(text, written, path, dict(entry))
    return written


def _yaml() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096  # never folds a line that the user left whole
    return yaml


def _insert(document: CommentedMap, parents: list[str], last: str, line: CommentedMap) -> None:
    """Put an entry where it belongs and let the lines below its predecessor follow it: they head the next section."""
    mapping = document
    for depth, key in enumerate(parents):
        if key not in mapping:
            for made in reversed(parents[depth + 1 :]):
                line, last = CommentedMap({last: line}), made
            line, last = CommentedMap({last: line}), key
            break
        mapping = mapping[key]
    tail = _cut_tail(mapping)
    if not mapping:
        mapping.fa.set_block_style()
    mapping[last] = line
    if tail:
        home, key = _last_leaf(mapping)
        home.ca.items[key] = [None, None, CommentToken("\n" + tail, CommentMark(0), None), None]


def _last_leaf(mapping: CommentedMap) -> tuple[CommentedMap, str]:
    """Return the last key on a line of its own, where the comments below the mapping hang."""
    key = next(reversed(mapping))
    value = mapping[key]
    if isinstance(value, CommentedMap) and value and not value.fa.flow_style():
        return _last_leaf(value)
    return mapping, key


def _cut_tail(mapping: CommentedMap) -> str:
    """Remove and return the lines below the last entry of a mapping; the comment on its own line stays."""
    if not mapping:
        return ""
    home, key = _last_leaf(mapping)
    comments = home.ca.items.get(key)
    token = comments[_END_OF_LINE] if comments else None
    if token is None:
        return ""
    own, _, tail = token.value.partition("\n")
    token.value = own + "\n"
    return str(tail)


def _verify(before: str, written: bytes, path: tuple[str, ...], entry: Plain) -> None:
    """Stop before a file is harmed: it must hold what it held, the new entry and every comment."""
    (old, _), (new, problems) = read("", before.encode()), read("", written)
    meant = copy.deepcopy(old.value)
    mapping: dict[str, Any] = meant
    for key in path[:-1]:
        mapping = mapping.setdefault(key, {})
    mapping[path[-1]] = entry
    assert not problems, problems
    assert new.value == meant, "the file would not hold what is meant"
    assert _COMMENT.findall(written.decode()) == _COMMENT.findall(before), "a comment would be lost"
