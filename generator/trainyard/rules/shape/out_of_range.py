"""Text of `shape/out-of-range`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/out-of-range",
    severity=Severity.ERROR,
    summary="Every number, length and count is within its limits.",
    why="Nothing is generated, and the cluster keeps its last tree.",
    fix="Stay within the limit.",
)
