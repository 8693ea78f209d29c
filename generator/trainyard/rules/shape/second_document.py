"""Text of `shape/second-document`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/second-document",
    severity=Severity.ERROR,
    summary="The file holds one document.",
    why="A reader that takes the first document only would silently ignore the second.",
    fix="Move the second document into a file of its own.",
)
