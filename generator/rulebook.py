"""Every rule that Trainyard knows, from every room."""

from __future__ import annotations

from generator import committed, pipeline, verification
from generator.diagnostics import Rule
from generator.dialect import rules as dialect_rules
from generator.load import discover, read
from generator.resolve import references
from generator.rules import check as meaning
from generator.schema import check as shape


def all_rules() -> tuple[Rule, ...]:
    """Return every rule by its id."""
    rooms = (dialect_rules, discover, read, shape, references, meaning, pipeline, committed, verification)
    return tuple(sorted((rule for room in rooms for rule in room.RULES), key=lambda rule: rule.id))
