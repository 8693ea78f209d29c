"""Read files of Kubernetes objects that a user hands in: jobs to judge or to convert."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Step, TreeError
from trainyard.plainfile import read_regular
from trainyard.yaml_io.events import StreamError
from trainyard.yaml_io.manifests import read_handwritten
from trainyard.yaml_io.source import Source

Body = dict[str, Any]

_LARGEST = 64 << 20
"""Bytes of a file of objects that are read: a snapshot of 10,000 Workloads."""


def shown(file: Path) -> str:
    """Return the name of a file for messages; ``-`` is standard input."""
    return "standard input" if str(file) == "-" else str(file)


def read_source(file: Path) -> Source:
    """Return the documents of a YAML or JSON file, with the place of everything in them.

    Raises:
        TreeError: it can't be read, or is no YAML.
    """
    return source_of(file, *content_of(file))


def source_of(file: Path, content: bytes, text: str) -> Source:
    """Return the documents of a YAML or JSON text.

    Raises:
        TreeError: it is no YAML.
    """
    try:
        return read_handwritten(shown(file), content, text)
    except StreamError as error:
        raise TreeError(f"{shown(file)} is no YAML that Kubernetes would read: {error}") from error


def objects(name: str, documents: Iterable[Any]) -> Iterator[tuple[tuple[Step, ...], Body]]:
    """Yield the path and body of each object of a file, those of a List by themselves.

    Args:
        name: of the file, for messages.
        documents: of the file.

    Raises:
        TreeError: a document is no object.
    """
    for number, body in enumerate(documents):
        if not isinstance(body, dict) or "kind" not in body:
            raise TreeError(f"{name} has a document that is no Kubernetes object")
        if str(body["kind"]).endswith("List") and isinstance(body.get("items"), list):
            members = enumerate(body["items"])
            yield from (
                ((number, "items", index), each)
                for index, each in members
                if isinstance(each, dict)
            )
        else:
            yield (number,), body


def content_of(file: Path) -> tuple[bytes, str]:
    """Return the content of a file as bytes and as text.

    Raises:
        TreeError: it can't be read.
    """
    try:
        content = _bytes(file)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise TreeError(f"{shown(file)} can't be read: {reason}") from error
    if len(content) > _LARGEST:
        raise TreeError(f"{shown(file)} is larger than {_LARGEST >> 20} MiB")
    return content, text


def _bytes(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read(_LARGEST + 1)
    return read_regular(file.parent, file.name, _LARGEST)
