"""The only door to libyaml: its events, from which each reader here builds what it needs.

Never ``yaml.load``: it crashes the process on deep nesting, and builds before anything was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

Event = Any
"""An event of PyYAML's C parser; types-PyYAML knows neither its attributes nor that its marks are always there."""


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
        ValueError: the text is no YAML; says the line.
    """
    try:
        yield from events(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"line {line}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"line 1: {error}") from error


def line_of(event: Event) -> int:
    """Return the 1-based line on which an event begins."""
    line: int = event.start_mark.line
    return line + 1
