"""Text of `shape/missing-key`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/missing-key",
    severity=Severity.ERROR,
    summary="Every key without a default is present.",
    why="Nothing is generated, and the cluster keeps its last tree.",
    fix="Add the key.",
)
