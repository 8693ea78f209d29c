"""A rule and the function that checks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from generator.diagnostics import Diagnostic, Rule
from generator.model.platform import Platform


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, and what yields its diagnostics for a platform."""

    rule: Rule
    find: Callable[[Platform], Iterator[Diagnostic]]
