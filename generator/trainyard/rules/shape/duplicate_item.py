"""Text of `shape/duplicate-item`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/duplicate-item",
    severity=Severity.ERROR,
    summary="No list has the same item twice.",
    why="Nothing is generated, and the cluster keeps its last tree.",
    fix="Delete the second item.",
)
