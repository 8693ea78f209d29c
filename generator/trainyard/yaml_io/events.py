"""Yield the events of libyaml, from which each reader builds its values.

Never ``yaml.load``: it crashes the process on deep nesting, and builds before anything was looked
at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from trainyard.yaml_io.source import Mark

Event = Any
"""An event of PyYAML's C parser; types-PyYAML knows neither its attributes nor that its marks are
always there."""

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class StreamError(ValueError):
    """A text can't be used as a stream of documents.

    Args:
        mark: where, in libyaml's own count from 0; None when it does not know.
        reason: why.
    """

    def __init__(self, mark: yaml.Mark | None, reason: object) -> None:
        self.line = mark.line + 1 if mark else 1
        self.column = mark.column + 1 if mark else 1
        self.reason = str(reason)
        super().__init__(f"line {self.line}: {reason}")


def events(text: str) -> Iterator[Event]:
    """Yield the events of a text, one by one.

    Raises:
        yaml.YAMLError: where the text stops being YAML.
    """
    try:
        yield from yaml.parse(text, Loader=yaml.CSafeLoader)
    except UnicodeDecodeError as error:
        # libyaml lets ``!%C0%80`` pass, PyYAML's binding then fails on it.
        raise yaml.YAMLError("a tag holds escaped bytes that are not UTF-8") from error


def trusted_events(text: str) -> Iterator[Event]:
    """Yield the events of a text that is ours to get right.

    Raises:
        StreamError: the text is not YAML.
    """
    try:
        yield from events(text)
    except yaml.MarkedYAMLError as error:
        raise StreamError(error.problem_mark, error.problem) from error
    except yaml.YAMLError as error:
        raise StreamError(None, error) from error


def line_of(event: Event) -> int:
    """Return the 1-based line on which an event begins."""
    line: int = event.start_mark.line
    return line + 1


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as libyaml counts them (YAML 1.1, 4.1.4), without their ends."""
    return _BREAK.split(text)


def span(event: Event, lines: Sequence[str]) -> Mark:
    """Return the place of a node on its first line, at least one column wide.

    Args:
        event: that the node begins with.
        lines: of the text.
    """
    start, end = event.start_mark, event.end_mark
    stop = end.column if end.line == start.line else len(lines[start.line].rstrip())
    return Mark(start.line + 1, start.column + 1, max(stop, start.column + 1) + 1)
