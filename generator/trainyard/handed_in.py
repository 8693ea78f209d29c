"""Read files of Kubernetes objects that a user hands in: jobs to judge or to convert."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from errno import EBADF
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Step, TreeError
from trainyard.plainfile import NotRegularError, read_regular
from trainyard.yaml_io.events import StreamError
from trainyard.yaml_io.manifests import read_handwritten
from trainyard.yaml_io.source import Source

Body = dict[str, Any]

OBJECTS = 4 << 20
"""Bytes of a YAML file: 1,000 jobs, for which the reader takes 0.2 GB."""
SNAPSHOT = 64 << 20
"""Bytes of a JSON file: 10,000 Workloads."""
FACTS = "facts"
"""``format`` of the file that ``trainyard facts`` writes."""
_SUFFIXES = frozenset({".json", ".yaml", ".yml"})
PYTHON = 256 << 10
"""Bytes of Python source, for which its parser takes at most 0.25 GB."""


class NoObjectError(TreeError):
    """A file has something else than Kubernetes objects, such as the values of a chart."""


def shown(file: Path) -> str:
    """Return the name of a file for messages; ``-`` is standard input."""
    return "standard input" if str(file) == "-" else str(file)


def read_source(file: Path) -> Source:
    """Return the documents of a YAML or JSON file, with the place of everything in them.

    Raises:
        TreeError: it can't be read, or is not YAML.
    """
    return source_of(file, *content_of(file, OBJECTS))


def source_of(file: Path, content: bytes, text: str) -> Source:
    """Return the documents of a YAML or JSON text.

    Raises:
        TreeError: it is not YAML.
    """
    try:
        return read_handwritten(shown(file), content, text)
    except StreamError as error:
        raise TreeError(f"{shown(file)} is not YAML that Kubernetes would read: {error}") from error


def listed(file: Path) -> tuple[tuple[tuple[Step, ...], Body], ...]:
    """Return the path and body of each object of a list that ``kubectl`` printed, or of facts.

    Args:
        file: as `documents_of` takes it.

    Raises:
        TreeError: it can't be read, or is not a list of objects.
    """
    return tuple(members(shown(file), documents_of(file)))


def members(name: str, documents: list[Any]) -> Iterator[tuple[tuple[Step, ...], Body]]:
    """Yield the path and body of each object of a dump, or of facts.

    Raises:
        TreeError: a document is not an object.
    """
    if len(documents) == 1 and is_facts(documents[0]):
        documents = facts_objects(name, documents[0])
    yield from objects(name, documents)


def dumps_in(paths: Sequence[Path]) -> tuple[list[tuple[str, list[Any]]], list[str]]:
    """Return name and documents of each dump, and why files of a folder could not be read.

    A folder may have other files beside dumps: those without objects are passed over.

    Raises:
        TreeError: a file that is named can't be read, or is not a dump; or a folder has none.
    """
    found: list[tuple[str, list[Any]]] = []
    skipped: list[str] = []
    for file in files_in(paths):
        try:
            documents = documents_of(file)
            if not is_facts(documents[0]):
                list(objects(shown(file), documents))
            found.append((shown(file), documents))
        except TreeError as problem:
            if file in paths:
                raise
            why = str(problem)
            if not isinstance(problem, NoObjectError):
                skipped.append(why if shown(file) in why else f"{shown(file)}: {why}")
    return found, skipped


def documents_of(file: Path) -> list[Any]:
    """Return the documents of a file as plain data.

    Args:
        file: JSON up to `SNAPSHOT`, or YAML up to `OBJECTS`, whose reader needs a minute for 10,000
            Workloads.

    Raises:
        TreeError: it can't be read, is empty, or is neither.
    """
    content, text = content_of(file, SNAPSHOT)
    if not text.lstrip().startswith("{"):
        need_small(file, content, OBJECTS)
        documents: list[Any] = source_of(file, content, text).value
        if not documents:
            raise TreeError(f"{shown(file)} is empty: did the command that wrote it fail?")
        return documents
    try:
        return [json.loads(text)]
    except (RecursionError, ValueError) as error:
        raise TreeError(f"{shown(file)} is not JSON: {error}") from error


def is_facts(document: Any) -> bool:
    """Return whether a document is what ``trainyard facts`` writes."""
    return isinstance(document, dict) and document.get("format") == FACTS and "kind" not in document


def facts_objects(name: str, document: Body) -> list[Any]:
    """Return the objects of facts.

    Raises:
        TreeError: they are not a list.
    """
    result = document.get("result")
    found = result.get("objects") if isinstance(result, dict) else None
    if not isinstance(found, list):
        raise TreeError(f"{name} has `format: {FACTS}` and no list of objects")
    return found


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return files by path; of a folder each file of JSON or YAML below it.

    Raises:
        TreeError: a folder has none.
    """
    files: list[Path] = []
    for path in paths:
        found = [path] if not path.is_dir() else sorted(_below(path))
        if not found:
            raise TreeError(f"{path} has no file of JSON or YAML")
        files += found
    return files


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def objects(name: str, documents: Iterable[Any]) -> Iterator[tuple[tuple[Step, ...], Body]]:
    """Yield the path and body of each object of a file, those of a List by themselves.

    Args:
        name: of the file, for messages.
        documents: of the file.

    Raises:
        TreeError: a document is not an object.
    """
    for number, body in enumerate(documents):
        _need_object(name, body)
        if str(body["kind"]).endswith("List") and "items" in body:
            yield from _members(name, number, body["items"])
        else:
            yield (number,), body


def _members(name: str, number: int, items: Any) -> Iterator[tuple[tuple[Step, ...], Body]]:
    """Yield the path and body of each object of a List; Go writes an empty one as null too."""
    if not isinstance(items, list | None):
        raise TreeError(f"{name} has a List whose `items` is not a list of objects")
    for index, body in enumerate(items or ()):
        _need_object(name, body)
        yield (number, "items", index), body


def _need_object(name: str, body: Any) -> None:
    if not isinstance(body, dict) or "kind" not in body:
        raise NoObjectError(f"{name} has a document that is not a Kubernetes object")


def content_of(file: Path, limit: int) -> tuple[bytes, str]:
    """Return the content of a file as bytes and as text.

    Raises:
        TreeError: it can't be read, or has more bytes than the limit.
    """
    try:
        content = _bytes(file, limit)
        need_small(file, content, limit)
        text = content.decode("utf-8-sig")
    except NotRegularError as error:
        hint = "pipe what another program prints to standard input, and name it `-`"
        raise TreeError(f"{shown(file)} can't be read: {error.strerror}; {hint}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise TreeError(f"{shown(file)} can't be read: {reason}") from error
    return content, text


def need_small(file: Path, content: bytes, limit: int) -> None:
    """Refuse content that would take too much memory.

    Raises:
        TreeError: it has more bytes than the limit.
    """
    if len(content) > limit:
        raise TreeError(f"{shown(file)} is larger than {limit >> 10:,} KiB: hand in parts of it")


def _bytes(file: Path, limit: int) -> bytes:
    if str(file) != "-":
        return read_regular(file.parent, file.name, limit)
    if sys.stdin is None:
        raise OSError(EBADF, "it is closed")
    return sys.stdin.buffer.read(limit + 1)
