"""Text of `shape/wrong-type`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/wrong-type",
    severity=Severity.ERROR,
    summary="Every value is of the type that its key takes.",
    why="Nothing is generated, and the cluster keeps its last tree.",
    fix="Write a value of that type.",
)
