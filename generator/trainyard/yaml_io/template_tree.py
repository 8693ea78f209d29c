"""The tree of a template's YAML: order, duplicates and lines kept, for the compiler that makes a builder of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import yaml

from trainyard.yaml_io.events import Event, line_of, trusted_events
from trainyard.yaml_io.scalars import resolve_agreed
from trainyard.yaml_io.source import Plain


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the tree.

    Args:
        kind: which of the following holds its content.
        line: where it begins, 1-based.
        value: of a scalar, resolved to plain data.
        entries: of a mapping, in order, duplicates kept.
        items: of a sequence.
    """

    kind: Literal["mapping", "sequence", "scalar"]
    line: int
    value: Plain = None
    entries: tuple[Pair, ...] = ()
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A key of a mapping, as its text, with its line (1-based) and its value."""

    key: str
    line: int
    value: Node


def compose_skeleton(text: str) -> Node:
    """Return the tree of a YAML text of one document; comments are dropped.

    Raises:
        ValueError: no YAML, not one document, an alias, a tag, a key that is no scalar, or a plain
            scalar on which YAML readers disagree; says the line.
    """
    events = trusted_events(text)
    roots = [
        _node(next(events), events)
        for event in events
        if isinstance(event, yaml.DocumentStartEvent)
    ]
    if len(roots) != 1:
        raise ValueError(
            f"line {roots[1].line if roots else 1}: {len(roots)} documents where one belongs"
        )
    return roots[0]


def _node(event: Event, events: Iterator[Event]) -> Node:
    line = line_of(event)
    if isinstance(event, yaml.AliasEvent) or event.anchor or event.tag is not None:
        raise ValueError(f"line {line}: an anchor, alias or tag")
    if isinstance(event, yaml.ScalarEvent):
        return Node("scalar", line, _value(event, line))
    if isinstance(event, yaml.SequenceStartEvent):
        return Node("sequence", line, items=tuple(_items(events)))
    return Node("mapping", line, entries=tuple(_entries(events)))


def _value(event: Event, line: int) -> Plain:
    try:
        return resolve_agreed(event.value) if event.implicit[0] else event.value
    except ValueError as error:
        raise ValueError(f"line {line}: {error}; quote it") from error


def _items(events: Iterator[Event]) -> Iterator[Node]:
    while not isinstance(event := next(events), yaml.SequenceEndEvent):
        yield _node(event, events)


def _entries(events: Iterator[Event]) -> Iterator[Pair]:
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        line = line_of(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise ValueError(f"line {line}: a key that is no scalar")  # noqa: TRY004 - the text is wrong, not a type
        yield Pair(event.value, line, _node(next(events), events))
