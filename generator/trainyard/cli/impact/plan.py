"""Describe the steps of a plan: an upgrade, or a cut-over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.change.plan import Step


def numbered(steps: Iterable[Step]) -> Iterator[str]:
    """Yield each step with its number, and its details below it."""
    for number, step in enumerate(steps, 1):
        yield f"{step.mark} {number}. {step.what}"
        yield from (f"  {detail}" for detail in step.details)
