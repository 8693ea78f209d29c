"""Find the comments and blank lines of a text, and the value that each of them belongs to."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from trainyard.yaml_io.events import Event, events

_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
_STARTS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)


@dataclass(frozen=True, slots=True)
class Node:
    """A key, value, mapping or list of a text.

    Args:
        start, end: offsets in the text, code points.
        line, column: of its start, from 0.
        braces: whether it is inside braces or brackets.
        opens: whether it is itself a mapping or list in braces or brackets.
    """

    start: int
    end: int
    line: int
    column: int
    braces: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment or a blank line that has its own line.

    Args:
        line: from 0.
        text: of the comment; empty for a blank line.
        level: number of the node whose line has the comment's indentation; None for no indentation.
    """

    line: int
    text: str
    level: int | None


@dataclass(slots=True)
class Remarks:
    """Comments and blank lines of a text, in its order.

    Args:
        above: lines before each node, by its number; after the last node at the number of nodes.
        beside: the comments at the end of a line, by the number of the last node before them.
        values: the other lines, without comments and without tabs outside of values.
    """

    above: dict[int, list[Remark]] = field(default_factory=dict)
    beside: dict[int, list[Remark]] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)

    @property
    def comments(self) -> list[str]:
        """Text of each comment, in the order of the text."""
        groups = (*self.above.values(), *self.beside.values())
        every = [remark for group in groups for remark in group if remark.text]
        return [remark.text for remark in sorted(every, key=lambda remark: remark.line)]


def nodes(text: str) -> list[Node]:
    """Return the keys, values, mappings and lists of a text, in its order.

    Raises:
        yaml.YAMLError: the text is not YAML.
    """
    found: list[Node] = []
    braces = [False]
    for event in events(text):
        if isinstance(event, _ENDS):
            braces.pop()
        elif isinstance(event, (yaml.ScalarEvent, *_STARTS)):
            flow = isinstance(event, _STARTS) and bool(event.flow_style)
            found.append(_node(event, braces=braces[-1], opens=flow))
            if isinstance(event, _STARTS):
                braces.append(braces[-1] or flow)
    return found


def _node(event: Event, *, braces: bool, opens: bool) -> Node:
    start = event.start_mark
    return Node(start.index, event.end_mark.index, start.line, start.column, braces, opens)


def remarks(text: str, found: list[Node]) -> Remarks:
    """Return the comments and blank lines of a text.

    Args:
        text: with LF as line ends.
        found: its nodes.
    """
    every = Remarks()
    starts = [node.start for node in found]
    for line in _lines(text, _Covered(text, found)):
        following = bisect.bisect_left(starts, line.offset)
        if line.code is not None:
            every.values.append(line.code)
        if line.beside and following:
            remark = Remark(line.number, line.comment, None)
            every.beside.setdefault(following - 1, []).append(remark)
        elif line.comment or line.code is None:
            remark = Remark(line.number, line.comment, _level(text, found, following, line))
            every.above.setdefault(following, []).append(remark)
    return every


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a text.

    Args:
        number: from 0.
        code: what is before its comment; None for a line of its own, empty inside of a text block.
        comment: empty without one.
        column: of the comment, from 0; the length of the line without one.
        offset: of the comment in the text.
    """

    number: int
    code: str | None
    comment: str
    column: int
    offset: int

    @property
    def beside(self) -> bool:
        """Whether the comment follows something on its line."""
        return bool(self.code and self.comment)


def _lines(text: str, covered: _Covered) -> Iterator[_Line]:
    """Yield the lines of a text."""
    offset = 0
    for number, line in enumerate(text.removesuffix("\n").split("\n")):
        at = covered.comment(offset, line)
        inside = bool(line[:at].strip()) or covered.at(offset)
        code = covered.spaced(offset, line[:at]) if inside else None
        yield _Line(number, code, line[at:].rstrip(), at, offset + at)
        offset += len(line) + 1


class _Covered:
    """The parts of a text that are inside of values, where `#` begins no comment."""

    def __init__(self, text: str, found: list[Node]) -> None:
        spans = [_inside(text, node) for node in found if not node.opens]
        self._spans = [(start, end) for start, end in spans if start < end]
        self._starts = [start for start, _ in self._spans]

    def at(self, offset: int) -> bool:
        """Return whether an offset is inside of a value."""
        near = bisect.bisect_right(self._starts, offset) - 1
        return near >= 0 and offset < self._spans[near][1]

    def comment(self, offset: int, line: str) -> int:
        """Return the column at which a line's comment begins; its length without one."""
        at = line.find("#")
        while at >= 0 and self.at(offset + at):
            at = line.find("#", at + 1)
        return at if at >= 0 else len(line)

    def spaced(self, offset: int, line: str) -> str:
        """Return a line without spaces at its end, and with spaces for tabs, outside of values."""
        inside = [self.at(offset + column) for column in range(len(line))]
        chars = (
            " " if char == "\t" and not covered else char
            for char, covered in zip(line, inside, strict=True)
        )
        text = "".join(chars)
        return text if inside and inside[-1] else text.rstrip()


def _inside(text: str, node: Node) -> tuple[int, int]:
    """Return the part of the text that a value covers; nothing for a mapping or list.

    A text block's first line can hold a comment, and the empty lines below it are not part of it
    unless it keeps them.
    """
    start, end = node.start, node.end
    if text[start : start + 1] not in {"|", ">"}:
        return start, end
    header = text[start:end].partition("\n")[0]
    body = start + len(header)
    if "+" in header.partition("#")[0]:
        return body, end
    lines = text[body:end].split("\n")
    indent = next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), 0)
    # A line of spaces that is longer than the indentation is part of the text.
    while len(lines) > 1 and not lines[-1].strip(" ") and len(lines[-1]) <= indent:
        lines.pop()
    return body, body + len("\n".join(lines))


def _level(text: str, found: list[Node], following: int, line: _Line) -> int | None:
    """Return the node whose line gives a comment its indentation.

    It is the next one, unless the comment is further inside, as after the last line of a section.
    """
    if not line.comment:
        return None
    if following == len(found):
        after, least = None, 0
    elif found[following].braces:
        return following
    else:
        after, least = following, _indent(text, found[following])
    for number, indent in _lines_before(text, found, following):
        if indent <= max(line.column, least):
            return number if indent > least else after
    return after


def _lines_before(text: str, found: list[Node], following: int) -> Iterator[tuple[int, int]]:
    """Yield the first node of each line above, the nearest line first, and its indentation."""
    for number in range(following - 1, -1, -1):
        node = found[number]
        if not node.braces and begins_line(text, node):
            yield number, _indent(text, node)


def begins_line(text: str, node: Node) -> bool:
    """Return whether only spaces, and the dashes of a list, are before a node on its line."""
    return not text[node.start - node.column : node.start].strip(" -")


def _indent(text: str, node: Node) -> int:
    """Return the number of spaces that the line of a node begins with."""
    line = text[node.start - node.column : node.start + 1]
    return len(line) - len(line.lstrip(" "))
