"""Read one profile from libyaml events: each is checked before a value is built of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Step
from trainyard.rules.shape.ambiguous_scalar import RULE as AMBIGUOUS_SCALAR
from trainyard.rules.shape.anchor_or_alias import RULE as ANCHOR_OR_ALIAS
from trainyard.rules.shape.directive import RULE as DIRECTIVE
from trainyard.rules.shape.duplicate_key import RULE as DUPLICATE_KEY
from trainyard.rules.shape.empty_file import RULE as EMPTY_FILE
from trainyard.rules.shape.hidden_character import RULE as HIDDEN_CHARACTER
from trainyard.rules.shape.not_a_mapping import RULE as NOT_A_MAPPING
from trainyard.rules.shape.not_yaml import RULE as NOT_YAML
from trainyard.rules.shape.odd_key import RULE as ODD_KEY
from trainyard.rules.shape.second_document import RULE as SECOND_DOCUMENT
from trainyard.rules.shape.tag import RULE as TAG
from trainyard.rules.shape.too_large import RULE as TOO_LARGE
from trainyard.yaml_io.anchors import anchors_as_one
from trainyard.yaml_io.bytescan import scan
from trainyard.yaml_io.events import Event, events, span
from trainyard.yaml_io.lookalikes import beyond_ascii, name_of
from trainyard.yaml_io.scalars import HIDDEN, advice, double_quoted, resolve_agreed
from trainyard.yaml_io.source import Ambiguous, Mark, Plain, Source

MAX_DEPTH: Final = 16
"""Deepest nesting of mappings and lists."""
MAX_SCALAR: Final = 4096
"""Longest key or value, code points."""
MAX_EVENTS: Final = 100_000

_Path = tuple[Step, ...]
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]*")


class _Stop(Exception):  # noqa: N818 - not an error: the rest of the file has no meaning
    """Ends the reading of a file; its diagnostics are already noted."""


@dataclass(slots=True)
class _Reading:
    """A file while it is read."""

    file: str
    lines: list[str]
    events: Iterator[Event]
    marks: dict[_Path, Mark] = field(default_factory=dict)
    key_marks: dict[_Path, Mark] = field(default_factory=dict)
    found: list[Diagnostic] = field(default_factory=list)
    count: int = 0
    aliased: bool = False

    def next(self) -> Event:
        event = next(self.events)
        self.count += 1
        if self.count > MAX_EVENTS:
            self.note(
                TOO_LARGE,
                self.span(event),
                f"the file has more than {MAX_EVENTS:,} keys, values and brackets",
            )
            raise _Stop
        return event

    def note(
        self, rule: Rule, at: Mark, message: str, *, hint: str = "", notes: tuple[Note, ...] = ()
    ) -> None:
        self.found.append(rule.at(self.pointer(at), message, hint=hint, notes=notes))

    def pointer(self, at: Mark) -> Pointer:
        # Not the path: with duplicate keys, two places have the same.
        return Pointer(self.file, line=at.line, column=at.column)

    def point(self, mark: yaml.Mark) -> Mark:
        """Return the place of a libyaml mark, which is a line too far at an end without newline."""
        if mark.line < len(self.lines):
            return Mark(mark.line + 1, mark.column + 1, mark.column + 2)
        end = len(self.lines[-1]) + 1
        return Mark(len(self.lines), end, end + 1)

    def span(self, event: Event) -> Mark:
        """Return the place of a node."""
        return span(event, self.lines)


def read(file: str, content: bytes) -> tuple[Source, tuple[Diagnostic, ...]]:
    """Read one profile.

    Args:
        file: path as shown to the user, forward slashes.
        content: the file's bytes, whatever they are.

    Returns:
        The source and its faults, in the order of the file. Its value is ``None`` when the file as
        a whole can't be used (bytes, syntax, size, no mapping). After a local fault it is the best
        guess, so that later stages can go on: the last of duplicate keys, the text of an ambiguous
        scalar, nothing for an odd key. An alias leaves no guess, so its file has no value.
    """
    text, found = scan(file, content)
    if found:
        return Source(file, content), found
    reading = _Reading(file, text.split("\n"), events(text))
    value = None
    try:
        value = _document(reading)
    except _Stop:
        pass
    except yaml.YAMLError as error:
        _note_syntax(reading, error)
    source = Source(file, content, value, reading.marks, reading.key_marks)
    return source, anchors_as_one(reading.found)


def _note_syntax(reading: _Reading, error: yaml.YAMLError) -> None:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    place = reading.point(mark) if mark else next(reversed(reading.marks.values()), Mark(1, 1, 2))
    line = reading.lines[place.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    hint = "indent with spaces; YAML does not allow tabs there" if "\t" in indent else ""
    notes = _opened(reading, error)
    reading.note(NOT_YAML, place, problem, hint=hint, notes=notes)


def _opened(reading: _Reading, error: yaml.YAMLError) -> tuple[Note, ...]:
    """Return where the structure begins that libyaml could not read to its end."""
    context, mark = getattr(error, "context", None), getattr(error, "context_mark", None)
    if not context or not mark:
        return ()
    return (Note(f"{context} that begins here", reading.pointer(reading.point(mark))),)


def _document(reading: _Reading) -> Plain:
    reading.next()
    start = reading.next()
    if isinstance(start, yaml.StreamEndEvent):
        reading.note(EMPTY_FILE, Mark(1, 1, 2), "the file is empty")
        raise _Stop
    if start.version or start.tags:
        reading.note(DIRECTIVE, reading.span(start), "the file begins with a YAML directive")
    root = reading.next()
    if not isinstance(root, yaml.MappingStartEvent):
        _note_no_mapping(reading, root)
        raise _Stop
    value = _node(reading, root, ())
    reading.next()
    if isinstance(second := reading.next(), yaml.DocumentStartEvent):
        reading.note(SECOND_DOCUMENT, reading.span(second), "a second document begins here")
        raise _Stop
    return None if reading.aliased else value


def _note_no_mapping(reading: _Reading, root: Event) -> None:
    if isinstance(root, yaml.ScalarEvent) and not root.value and root.implicit[0]:
        reading.note(EMPTY_FILE, Mark(1, 1, 2), "the document is empty")
    else:
        what = "a list" if isinstance(root, yaml.SequenceStartEvent) else "a single value"
        reading.note(NOT_A_MAPPING, reading.span(root), f"the document is {what}, not a mapping")


def _node(reading: _Reading, event: Event, path: _Path) -> Plain:
    span = reading.marks[path] = reading.span(event)
    if isinstance(event, yaml.AliasEvent):
        reading.note(ANCHOR_OR_ALIAS, span, f"alias `*{event.anchor}`")
        reading.aliased = True
        return None
    _note_properties(reading, event, span)
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(reading, event, span)
    if len(path) >= MAX_DEPTH:
        reading.note(TOO_LARGE, span, f"mappings and lists are nested more than {MAX_DEPTH} deep")
        raise _Stop
    if isinstance(event, yaml.MappingStartEvent):
        return _mapping(reading, path)
    return _sequence(reading, path)


def _note_properties(reading: _Reading, event: Event, span: Mark) -> None:
    if event.anchor is not None:
        reading.note(ANCHOR_OR_ALIAS, span, f"anchor `&{event.anchor}`")
    if event.tag is not None:
        reading.note(TAG, span, f"tag {double_quoted(event.tag)}")


def _sequence(reading: _Reading, path: _Path) -> list[Plain]:
    items: list[Plain] = []
    while not isinstance(event := reading.next(), yaml.SequenceEndEvent):
        items.append(_node(reading, event, (*path, len(items))))
    return items


def _mapping(reading: _Reading, path: _Path) -> dict[str, Plain]:
    body: dict[str, Plain] = {}
    seen: dict[str, Mark] = {}
    while not isinstance(event := reading.next(), yaml.MappingEndEvent):
        span, key = reading.span(event), _key(reading, event, path)
        at = (*path, key)
        if key and key in seen:
            message = f"key `{key}` is in this mapping twice"
            notes = (Note(f"`{key}` is here first", reading.pointer(seen[key])),)
            reading.note(DUPLICATE_KEY, span, message, notes=notes)
        seen.setdefault(key, span)
        content = reading.next()
        value = _node(reading, content, at)
        if value is None and content.start_mark.index == content.end_mark.index:
            reading.marks[at] = span
        if key:
            body[key], reading.key_marks[at] = value, span
    return body


def _key(reading: _Reading, event: Event, path: _Path) -> str:
    """Return a key, or note its fault and return ``""`` for one that no profile can have."""
    span = reading.span(event)
    if not isinstance(event, yaml.ScalarEvent):
        reading.note(ODD_KEY, span, "a mapping, list or alias is used as a key")
        _node(reading, event, (*path, ""))
        return ""
    _note_properties(reading, event, span)
    text: str = event.value
    plain: bool = event.implicit[0]
    if plain and text == "<<":
        reading.note(ANCHOR_OR_ALIAS, span, "merge key `<<`")
        return ""
    if not _fits(reading, text, span):
        return ""
    if not _KEY.fullmatch(text):
        reading.note(
            ODD_KEY, span, f"key {double_quoted(text)} is not plain text{beyond_ascii(text)}"
        )
        return ""
    if plain and not _is_text(text):
        reading.note(
            ODD_KEY, span, f"key `{text}` is not text", hint=f"write {double_quoted(text)}"
        )
    return text


def _scalar(reading: _Reading, event: Event, span: Mark) -> Plain:
    text: str = event.value
    if not _fits(reading, text, span) or not event.implicit[0]:
        return text
    try:
        return resolve_agreed(text)
    except ValueError:
        message = f"`{text}` without quotes is not the same for every YAML reader"
        reading.note(AMBIGUOUS_SCALAR, span, message, hint=advice(text))
        return Ambiguous(text)


def _fits(reading: _Reading, text: str, span: Mark) -> bool:
    """Return whether a key or value can be read; note its fault if not."""
    if len(text) > MAX_SCALAR:
        reading.note(
            TOO_LARGE,
            span,
            f"{len(text):,} characters; a key or value has at most {MAX_SCALAR:,}",
        )
        return False
    if hidden := HIDDEN.search(text):
        reading.note(HIDDEN_CHARACTER, span, f"an escape puts {name_of(hidden[0])} into the text")
        return False
    return True


def _is_text(text: str) -> bool:
    try:
        return isinstance(resolve_agreed(text), str)
    except ValueError:
        return False
