"""Every rule that Trainyard knows, from every room."""

from __future__ import annotations

from trainyard.codeowners import rules as codeowners
from trainyard.diagnostics import Rule
from trainyard.history import check as history
from trainyard.profiles import component, discover
from trainyard.references import graph
from trainyard.resolve import references
from trainyard.rules import check as meaning
from trainyard.rules import review, waivers
from trainyard.scaffold import rules as scaffold
from trainyard.schema import check as shape
from trainyard.workflows import (
    counts,
    freshness,
    memory,
    merge,
    objects,
    placement,
    submodules,
    vanished,
    worktree,
)
from trainyard.yaml_io import rules as dialect_rules


def all_rules() -> tuple[Rule, ...]:
    """Return every rule by its id."""
    stages = (
        dialect_rules,
        discover,
        component,
        shape,
        references,
        meaning,
        review,
        waivers,
        graph,
        scaffold,
        codeowners,
    )
    workflows = (
        objects,
        freshness,
        memory,
        merge,
        submodules,
        vanished,
        placement,
        counts,
        worktree,
    )
    rooms = (*stages, history, *workflows)
    return tuple(sorted((rule for room in rooms for rule in room.RULES), key=lambda rule: rule.id))
