"""Functions that resolve something: they yield what is wrong, and return what they resolved.

A caller passes the findings on: ``release = yield from find("release", ...)``.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from trainyard.diagnostics import Diagnostic, Pointer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A name of a profile that was left out; that profile is reported instead."""

    at: Pointer


Finding: TypeAlias = Diagnostic | Unresolved
"""A place of a profile whose meaning is not known."""

Resolving: TypeAlias = Generator[Finding, None, T]
"""Yields findings and returns a value."""


def collect(steps: Resolving[T]) -> tuple[T, tuple[Finding, ...]]:
    """Return the value of a function that resolves something, and its findings in order."""
    findings = []
    while True:
        try:
            findings.append(next(steps))
        except StopIteration as end:
            return end.value, tuple(findings)
