"""Reads back Kubernetes YAML: what this tool wrote, and what ``kustomize build`` makes of it."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from generator.dialect.events import Event, line_of, trusted_events
from generator.dialect.scalars import resolve_kubernetes
from generator.dialect.source import Plain

MAX_DEPTH = 100
"""Deepest nesting of mappings and lists; an object of Kubernetes has less than 30 levels."""


def parse_manifests(text: str) -> list[Plain]:
    """Return the documents of a stream, as Kubernetes reads them; empty documents are left out.

    A value can be a float here, since a foreign manifest may hold one. Keys are their text.

    Raises:
        ValueError: no YAML, too deep, or an alias, a tag or a duplicate key, which no generated manifest holds; says
            the line.
    """
    events = trusted_events(text)
    documents = [_node(next(events), events, 0) for event in events if isinstance(event, yaml.DocumentStartEvent)]
    return [document for document in documents if document is not None]


def _node(event: Event, events: Iterator[Event], depth: int) -> Plain:
    kind = type(event)
    if kind is yaml.AliasEvent or event.tag is not None:
        raise ValueError(f"line {line_of(event)}: an alias or a tag in a manifest")
    if kind is yaml.ScalarEvent:
        return resolve_kubernetes(event.value) if event.implicit[0] else event.value
    if depth == MAX_DEPTH:
        raise ValueError(f"line {line_of(event)}: more than {MAX_DEPTH} levels of mappings and lists")
    if kind is yaml.SequenceStartEvent:
        items = []
        while type(event := next(events)) is not yaml.SequenceEndEvent:
            items.append(_node(event, events, depth + 1))
        return items
    return _mapping(events, depth + 1)


def _mapping(events: Iterator[Event], depth: int) -> dict[str, Plain]:
    body: dict[str, Plain] = {}
    while type(event := next(events)) is not yaml.MappingEndEvent:
        if type(event) is not yaml.ScalarEvent or event.value in body:
            raise ValueError(f"line {line_of(event)}: a key that is no scalar or stands twice")
        body[event.value] = _node(next(events), events, depth)
    return body
