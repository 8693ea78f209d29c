"""Reads Kubernetes YAML: what this tool wrote, what ``kustomize build`` makes of it, and hand-written components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from trainyard.diagnostics import Step
from trainyard.yaml_io.events import Event, StreamError, span, trusted_events
from trainyard.yaml_io.scalars import resolve_kubernetes
from trainyard.yaml_io.source import Mark, Plain, Source

_Path = tuple[Step, ...]


@dataclass(slots=True)
class _Stream:
    """A stream of documents while it is read.

    Args:
        lines: of the text; without them no place is noted.
    """

    events: Iterator[Event]
    lines: list[str] = field(default_factory=list)
    marks: dict[_Path, Mark] = field(default_factory=dict)
    key_marks: dict[_Path, Mark] = field(default_factory=dict)


MAX_DEPTH = 100
"""Deepest nesting of mappings and lists; an object of Kubernetes has less than 30 levels."""


def parse_manifests(text: str) -> list[Plain]:
    """Return the documents of a stream, as Kubernetes reads them; empty documents are left out.

    A value can be a float here, since a foreign manifest may hold one. Keys are their text.

    Raises:
        StreamError: no YAML, too deep, or an alias, a tag or a duplicate key, which no generated
            manifest holds.
    """
    return _documents(_Stream(trusted_events(text)))


def read_manifests(file: str, content: bytes, text: str) -> Source:
    """Return a file of Kubernetes objects whose value is the list of its documents, as `parse_manifests` returns them.

    A place in it begins with the number of the document, e.g. ``(0, "metadata", "name")``.

    Args:
        file: path as shown to the user.
        content: the bytes read.
        text: the same as text.

    Raises:
        StreamError: as `parse_manifests`.
    """
    stream = _Stream(trusted_events(text), text.split("\n"))
    return Source(file, content, _documents(stream), stream.marks, stream.key_marks)


def _documents(stream: _Stream) -> list[Plain]:
    documents: list[Plain] = []
    for event in stream.events:
        if isinstance(event, yaml.DocumentStartEvent):
            document = _node(stream, next(stream.events), (len(documents),))
            documents += [] if document is None else [document]
    return documents


def _node(stream: _Stream, event: Event, path: _Path) -> Plain:
    kind = type(event)
    if kind is yaml.AliasEvent or event.tag is not None:
        raise StreamError(event.start_mark, "an alias or a tag in a manifest")
    if stream.lines:
        stream.marks[path] = span(event, stream.lines)
    if kind is yaml.ScalarEvent:
        return resolve_kubernetes(event.value) if event.implicit[0] else event.value
    if len(path) > MAX_DEPTH:
        raise StreamError(event.start_mark, f"more than {MAX_DEPTH} levels of mappings and lists")
    if kind is yaml.SequenceStartEvent:
        items: list[Plain] = []
        while type(event := next(stream.events)) is not yaml.SequenceEndEvent:
            items.append(_node(stream, event, (*path, len(items))))
        return items
    return _mapping(stream, path)


def _mapping(stream: _Stream, path: _Path) -> dict[str, Plain]:
    body: dict[str, Plain] = {}
    while type(event := next(stream.events)) is not yaml.MappingEndEvent:
        if type(event) is not yaml.ScalarEvent or event.value in body:
            raise StreamError(event.start_mark, "a key that is no scalar or stands twice")
        at = (*path, event.value)
        if stream.lines:
            stream.key_marks[at] = span(event, stream.lines)
        body[event.value] = _node(stream, next(stream.events), at)
    return body
