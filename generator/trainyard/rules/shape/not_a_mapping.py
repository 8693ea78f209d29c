"""Text of `shape/not-a-mapping`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/not-a-mapping",
    severity=Severity.ERROR,
    summary="The document is a mapping of keys to values.",
    why="A list or a single value has no fields, so nothing can be generated from it.",
    fix="Begin the file with a key, such as `kind: Team`.",
)
