"""Text of `shape/wrong-value`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/wrong-value",
    severity=Severity.ERROR,
    summary="Every value has a form that its key takes.",
    why="Nothing is generated, and the cluster keeps its last tree.",
    fix="Correct the value.",
)
