"""Text of `shape/unknown-key`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/unknown-key",
    severity=Severity.ERROR,
    summary="Every key is one that this kind of profile has.",
    why="A misspelt key would be ignored, and its default silently used.",
    fix="Correct or delete the key.",
)
