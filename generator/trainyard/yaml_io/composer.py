"""Build values from YAML that has no anchors to follow, tags to obey or keys to convert."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

import yaml

from trainyard.diagnostics import Step
from trainyard.yaml_io.events import Event, StreamError, trusted_events

MAX_DEPTH: Final = 100
"""Deepest nesting of mappings and lists; an object of Kubernetes has less than 30 levels."""

Path = tuple[Step, ...]
Value = TypeVar("Value")


class Composer(ABC, Generic[Value]):
    """Reads the nodes of a text; a subclass decides which value each of them becomes.

    Args:
        text: a stream of YAML documents.
    """

    def __init__(self, text: str) -> None:
        self._events = trusted_events(text)

    @abstractmethod
    def scalar(self, event: Event) -> Value:
        """Return the value of a scalar."""

    @abstractmethod
    def sequence(self, event: Event, path: Path) -> Value:
        """Return the value of the sequence that an event begins; `items` yields its items."""

    @abstractmethod
    def mapping(self, event: Event, path: Path) -> Value:
        """Return the value of the mapping that an event begins; `keys` yields its keys."""

    def roots(self) -> Iterator[Event]:
        """Yield the first event of each document's root; read the node before the next.

        Raises:
            StreamError: the text is not YAML.
        """
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                yield next(self._events)

    def node(self, event: Event, path: Path) -> Value:
        """Return the value of the node that an event begins.

        Raises:
            StreamError: it is nested too deep, or has an alias, a tag or a key other than a scalar.
        """
        kind = type(event)
        if kind is yaml.AliasEvent or event.tag is not None:
            raise StreamError(event.start_mark, "an alias or a tag")
        if kind is yaml.ScalarEvent:
            return self.scalar(event)
        if len(path) > MAX_DEPTH:
            reason = f"more than {MAX_DEPTH} levels of mappings and lists"
            raise StreamError(event.start_mark, reason)
        if kind is yaml.SequenceStartEvent:
            return self.sequence(event, path)
        return self.mapping(event, path)

    def items(self, path: Path) -> Iterator[Value]:
        """Yield the values of the items of a sequence."""
        index = 0
        while type(event := next(self._events)) is not yaml.SequenceEndEvent:
            yield self.node(event, (*path, index))
            index += 1

    def keys(self) -> Iterator[Event]:
        """Yield the keys of a mapping; read each one's value with `value` before the next key.

        Raises:
            StreamError: a key is not a scalar.
        """
        while type(event := next(self._events)) is not yaml.MappingEndEvent:
            if type(event) is not yaml.ScalarEvent:
                raise StreamError(event.start_mark, "a key that is not a scalar")
            yield event

    def value(self, path: Path) -> Value:
        """Return the value that follows a key."""
        return self.node(next(self._events), path)
