"""Text of `shape/bad-name`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/bad-name",
    severity=Severity.ERROR,
    summary="Every name that the user chooses can become part of a Kubernetes name.",
    why="Nothing is generated, and the cluster keeps its last tree.",
    fix="Rename it.",
)
