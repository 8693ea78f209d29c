"""Text of `shape/empty-value`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/empty-value",
    severity=Severity.ERROR,
    summary="Every key has a value.",
    why="Nothing is generated, and the cluster keeps its last tree.",
    fix="Write a value, or delete the key to use its default.",
)
