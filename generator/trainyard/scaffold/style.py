"""Write a profile in the one style of Trainyard, with ruamel.yaml; no comment is lost."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.rules.shape.left_alone import RULE as LEFT_ALONE
from trainyard.scaffold.comments import NoPlaceError, with_remarks
from trainyard.yaml_io import remarks
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain, Source

WIDTH = 128
"""Columns of the longest line with items in braces; beyond it each item gets a line."""
_INDENT = 2
_WITHOUT_END = 1 << 30
"""A width at which ruamel.yaml folds no line."""


class _ChangedError(Exception):
    """The file would not hold what it held."""


def styled(source: Source) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """Return a profile in the style.

    Args:
        source: that was read without a fault.

    Returns:
        The new bytes; the same ones and the reason when the file must be left alone. The new ones
        hold the same data, keys in the same order, and the same comments.
    """
    file, content = source.file, source.content
    text = "\n".join(source.lines)
    try:
        new = _restyled(text)
        if new != text:
            # ruamel.yaml gives single quotes to a plain value that needs some.
            new = _restyled(new)
        _check(file, text, source.value, new)
    except NoPlaceError as problem:
        return content, (_left_alone(file, problem.line, str(problem)),)
    except _ChangedError as problem:
        return content, (_left_alone(file, 1, str(problem)),)
    except YAMLError:
        return content, (_left_alone(file, 1, "ruamel.yaml can't read the file"),)
    return new.encode(), ()


def _left_alone(file: str, line: int, message: str) -> Diagnostic:
    return LEFT_ALONE.at(Pointer(file, line=line, column=1), message)


def _restyled(text: str) -> str:
    """Return a text in the style: values from ruamel.yaml, then the comments at their values."""
    known = remarks.remarks(text, remarks.nodes(text))
    values = "\n".join([*known.values, ""])
    root = _yaml().compose(values)
    folded = [*_folded(root, values)]
    new = _unfolded(root)
    for number in folded:
        start = remarks.nodes(new)[number].start
        new = f"{new[:start]}>{new[start + 1 :]}"
    return with_remarks(new, known)


def _folded(root: Node, text: str) -> Iterator[int]:
    """Set the quotes of each value, and yield the numbers of the folded texts.

    ruamel.yaml does not write every folded text as it was, but it does so with literal ones.
    """
    for number, (node, at) in enumerate(zip(_nodes(root), remarks.nodes(text), strict=True)):
        if not isinstance(node, ScalarNode):
            continue
        if node.style == "'" and not {'"', "\\"} & {*node.value}:
            node.style = '"'
        elif node.style == ">":
            node.value, node.style = _lines_of(text[at.start : at.end]), "|"
            yield number


def _lines_of(block: str) -> str:
    """Return the lines of a text block without its first line and its indentation."""
    header, _, body = block.partition("\n")
    lead = len(_lead(body.lstrip("\n")))
    lines = [line[lead:] for line in body.split("\n")]
    text = "\n".join(lines)
    if "+" in header:
        return text
    return text.rstrip("\n") + ("" if "-" in header else "\n")


def _yaml() -> YAML:
    yaml = YAML()
    yaml.width = _WITHOUT_END
    yaml.indent(mapping=_INDENT, sequence=2 * _INDENT, offset=_INDENT)
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    return yaml


def _nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the file."""
    yield node
    if isinstance(node, CollectionNode):
        pairs = node.value if isinstance(node, MappingNode) else ((each,) for each in node.value)
        for pair in pairs:
            for each in pair:
                yield from _nodes(each)


def _unfolded(root: Node) -> str:
    """Return the text of a tree of nodes; what is too long for a line in braces leaves them."""
    every: list[Any] = [*_nodes(root)]
    while True:
        out = io.StringIO()
        _yaml().serialize(root, out)
        text = out.getvalue()
        # ruamel.yaml ends a document whose last text keeps empty lines.
        text = text.removesuffix("...\n") if text.endswith("\n...\n") else text
        too_long = [*_too_long(text)]
        if not too_long:
            return text
        for number in too_long:
            every[number].flow_style = False


def _too_long(text: str) -> Iterator[int]:
    """Yield the first node in braces of each line that is too long, unless it is empty."""
    lines = text.split("\n")
    for line, group in groupby(enumerate(remarks.nodes(text)), lambda pair: pair[1].line):
        if len(lines[line]) > WIDTH:
            wide = [number for number, node in group if _has_items(text, node)]
            if wide:
                yield wide[0]


def _has_items(text: str, node: remarks.Node) -> bool:
    """Return whether a node is a mapping or list in braces that is not empty."""
    return node.opens and not text.startswith(("{}", "[]"), node.start)


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _check(file: str, old: str, value: Plain, new: str) -> None:
    """Compare the new text with the old one, as our own reader reads both.

    Raises:
        _ChangedError: data, the order of keys or a comment would change.
    """
    source, found = read(file, new.encode())
    if found or not _same(source.value, value):
        raise _ChangedError("the file would not hold the same data")
    before, after = _comments(old), _comments(new)
    # The number of all `#` is counted without our own search for comments.
    if before != after or old.count("#") != new.count("#"):
        raise _ChangedError("the file would not hold the same comments")


def _comments(text: str) -> list[str]:
    return remarks.remarks(text, remarks.nodes(text)).comments


def _same(one: Plain, other: Plain) -> bool:
    """Return whether data is equal, the order of keys and the types included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return _same([*one.items()], [*other.items()])
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
