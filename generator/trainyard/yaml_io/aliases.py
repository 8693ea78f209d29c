"""Replace the aliases of a YAML text by what they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml

from trainyard.yaml_io.events import Event, StreamError

MAX_EVENTS: Final = 100_000
"""Events that the aliases of a text may add: aliases of aliases multiply."""

_BEGIN = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_END = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


@dataclass(slots=True)
class _Anchored:
    """A node with an anchor, as far as it was read."""

    anchor: str
    events: list[Event] = field(default_factory=list)
    depth: int = 0

    def add(self, event: Event) -> None:
        self.events.append(event)
        self.depth += isinstance(event, _BEGIN) - isinstance(event, _END)


def expanded(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events of a text, for each alias those of the node that it names.

    Raises:
        StreamError: an alias names no node before it, or the aliases add too many events.
    """
    nodes: dict[str, list[Event]] = {}
    unfinished: list[_Anchored] = []
    added = 0
    for event in events:
        kind = type(event)
        if kind is yaml.DocumentStartEvent:
            nodes.clear()
        found = [event]
        if kind is yaml.AliasEvent:
            found = _named(nodes, event)
            added += len(found)
            if added > MAX_EVENTS:
                raise StreamError(event.start_mark, f"aliases add more than {MAX_EVENTS} values")
        elif getattr(event, "anchor", None):
            unfinished.append(_Anchored(event.anchor))
        for each in found:
            _note(unfinished, nodes, each)
            yield each


def _named(nodes: dict[str, list[Event]], alias: Event) -> list[Event]:
    if alias.anchor not in nodes:
        raise StreamError(alias.start_mark, f"alias *{alias.anchor} names no value before it")
    return nodes[alias.anchor]


def _note(unfinished: list[_Anchored], nodes: dict[str, list[Event]], event: Event) -> None:
    """Add an event to the nodes that it is inside of; those that it ends can be named."""
    for each in unfinished:
        each.add(event)
    while unfinished and not unfinished[-1].depth:
        done = unfinished.pop()
        nodes[done.anchor] = done.events
