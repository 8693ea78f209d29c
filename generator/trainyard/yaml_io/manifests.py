"""Read Kubernetes YAML: the committed tree, the output of ``kustomize build``, and components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.yaml_io.aliases import expanded
from trainyard.yaml_io.composer import Composer, Path
from trainyard.yaml_io.events import Event, StreamError, lines_of, span
from trainyard.yaml_io.scalars import resolve_kubernetes
from trainyard.yaml_io.source import Mark, Plain, Source

_MERGE = "<<"
MAX_VALUES: Final = 250_000
"""Mappings, lists and scalars of a user's file, whose places may take 1 KB each."""


class _Manifests(Composer[Plain]):
    """Builds plain data of each document.

    Args:
        text: a stream of YAML documents.
        lines: of the text; without them no place is noted.
    """

    def __init__(self, text: str, lines: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.lines = lines
        self.marks: dict[Path, Mark] = {}
        self.key_marks: dict[Path, Mark] = {}

    def documents(self) -> list[Plain]:
        """Return the documents that are not empty."""
        documents: list[Plain] = []
        for root in self.roots():
            document = self.node(root, (len(documents),))
            if document is not None:
                documents.append(document)
        return documents

    def node(self, event: Event, path: Path) -> Plain:
        if self.lines:
            self.marks[path] = span(event, self.lines)
        return super().node(event, path)

    def scalar(self, event: Event) -> Plain:
        return resolve_kubernetes(event.value) if event.implicit[0] else event.value

    def sequence(self, _: Event, path: Path) -> Plain:
        return list(self.items(path))

    def mapping(self, _: Event, path: Path) -> Plain:
        body: dict[str, Plain] = {}
        for key in self.keys():
            if key.value in body:
                raise StreamError(key.start_mark, f"key `{key.value}` is there twice")
            at = (*path, key.value)
            if self.lines:
                self.key_marks[at] = span(key, self.lines)
            body[key.value] = self.value(at)
        return body


class _Handwritten(_Manifests):
    """Builds plain data of documents with aliases and merge keys (``<<``)."""

    def __init__(self, text: str, lines: Sequence[str]) -> None:
        super().__init__(text, lines)
        self._events = expanded(self._events)
        self._left = MAX_VALUES

    def node(self, event: Event, path: Path) -> Plain:
        self._left -= 1
        if self._left < 0:
            raise StreamError(event.start_mark, f"more than {MAX_VALUES:,} values")
        return super().node(event, path)

    def mapping(self, event: Event, path: Path) -> Plain:
        body = super().mapping(event, path)
        assert isinstance(body, dict)
        merged = body.pop(_MERGE, None)
        for each in merged if isinstance(merged, list) else [merged]:
            if isinstance(each, dict):
                body = {**each, **body}
        return body


def parse_manifests(text: str) -> list[Plain]:
    """Return the documents of a stream, as Kubernetes reads them, without empty ones.

    A value can be a float here, since a foreign manifest may hold one. Keys are their text.

    Raises:
        StreamError: no YAML, too deep, or an alias, a tag or a duplicate key, which no generated
            manifest holds.
    """
    return _Manifests(text).documents()


def read_manifests(file: str, content: bytes, text: str) -> Source:
    """Return a file of Kubernetes objects; its value is the list that `parse_manifests` returns.

    A place in it begins with the number of the document, e.g. ``(0, "metadata", "name")``.

    Args:
        file: path as shown to the user.
        content: the bytes read.
        text: the same as text.

    Raises:
        StreamError: as `parse_manifests`.
    """
    manifests = _Manifests(text, lines_of(text))
    documents = manifests.documents()
    return Source(file, content, documents, manifests.marks, manifests.key_marks)


def read_handwritten(file: str, content: bytes, text: str) -> Source:
    """Return a user's file as ``kubectl`` reads it; places as `read_manifests` has them.

    What an alias adds has the place of what it names.

    Args:
        file: path as shown to the user.
        content: the bytes read.
        text: the same as text.

    Raises:
        StreamError: as `parse_manifests`, but for aliases, of which there may be some.
    """
    manifests = _Handwritten(text, lines_of(text))
    documents = manifests.documents()
    return Source(file, content, documents, manifests.marks, manifests.key_marks)
