"""A plan: what people do one after the other, each step with its way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan.

    Args:
        mark: of its line: ``!`` for one to be careful with, ``+`` for one that is done, ``~``.
        what: somebody does, in words.
        details: why, by whom and how long, and the way back; each a line.
    """

    mark: str
    what: str
    details: Sequence[str] = ()
