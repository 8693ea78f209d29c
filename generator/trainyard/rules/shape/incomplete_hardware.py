"""Text of `shape/incomplete-hardware`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/incomplete-hardware",
    severity=Severity.ERROR,
    summary="""
        A hardware profile, with what it extends, has every field that quota is computed from.
    """,
    why="""
        Without the field the allocatable of a node can't be computed, and a guessed quota leaves
        gangs admitted and Pending.
    """,
    fix="Give the field, or extend a preset that has it.",
)
