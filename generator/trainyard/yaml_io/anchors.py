"""Several anchors and aliases of a file have one cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trainyard.diagnostics import Diagnostic, Note
from trainyard.rules.shape.anchor_or_alias import RULE as ANCHOR_OR_ALIAS

_PLACES: Final = 10
"""Anchors and aliases of a file whose places are listed."""


def anchors_as_one(found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the findings of a file; those on anchors and aliases are one, at the first place."""
    shared = [each for each in found if each.rule == ANCHOR_OR_ALIAS.id]
    if len(shared) < 2:
        return tuple(found)
    first, *others = shared
    notes = tuple(Note(other.message, other.at) for other in others[: _PLACES - 1])
    message = f"{len(shared)} anchors, aliases and merge keys; the first is {first.message}"
    merged = replace(first, message=message, notes=notes)
    kept = []
    for each in found:
        if each is first:
            kept.append(merged)
        elif each.rule != ANCHOR_OR_ALIAS.id:
            kept.append(each)
    return tuple(kept)
