"""Values that a new profile marks as placeholders, with a comment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Pointer, Step
from trainyard.yaml_io.source import Plain, Source

MARK = "# placeholder"
"""What the comment begins with, beside a value or on the line above it."""


def placeholders(source: Source) -> Iterator[tuple[Pointer, Plain]]:
    """Yield the place of each value on a line that is marked, and the value."""
    if source.value is None or MARK.encode() not in source.content:
        return
    marked = set(_marked(source.lines))
    for path, span in source.marks.items():
        if span.line in marked:
            yield Pointer(source.file).below(path), _at(source.value, path)


def _marked(lines: Iterable[str]) -> Iterator[int]:
    """Yield the numbers of the lines whose values are marked."""
    for number, line in enumerate(lines, start=1):
        if MARK in line:
            yield number + line.lstrip().startswith(MARK)


def _at(value: Plain, path: Iterable[Step]) -> Plain:
    for step in path:
        value = value[step]
    return value
