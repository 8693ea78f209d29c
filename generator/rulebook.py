"""Every rule that Trainyard knows, from every room."""

from __future__ import annotations

from generator import committed, pipeline, verification, worktree
from generator.change import check as change
from generator.diagnostics import Rule
from generator.dialect import rules as dialect_rules
from generator.edit import rules as edit
from generator.load import component, discover
from generator.references import graph
from generator.resolve import references
from generator.rules import check as meaning
from generator.rules import waivers
from generator.schema import check as shape


def all_rules() -> tuple[Rule, ...]:
    """Return every rule by its id."""
    stages = (dialect_rules, discover, component, shape, references, meaning, waivers, graph, edit)
    rooms = (*stages, change, pipeline, committed, verification, worktree)
    return tuple(sorted((rule for room in rooms for rule in room.RULES), key=lambda rule: rule.id))
