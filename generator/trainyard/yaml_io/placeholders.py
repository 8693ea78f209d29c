"""Values that a new profile marks as placeholders, with a comment."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Pointer
from trainyard.yaml_io.source import Source

MARK = "# placeholder"
"""What the comment begins with, beside a value or on the line above it."""


def placeholders(source: Source) -> Iterator[tuple[Pointer, str]]:
    """Yield the place of each text that is marked, and the text."""
    if source.value is None or MARK.encode() not in source.content:
        return
    marked = {
        number + line.lstrip().startswith(MARK)
        for number, line in enumerate(source.lines, start=1)
        if MARK in line
    }
    for path, span in source.marks.items():
        value = source.value
        for step in path:
            value = value[step]
        if span.line in marked and isinstance(value, str):
            yield Pointer(source.file).below(path), value
