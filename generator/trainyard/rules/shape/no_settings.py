"""Text of `shape/no-settings`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/no-settings",
    severity=Severity.ERROR,
    summary="The file profiles/trainyard.yaml exists.",
    why="Nothing is generated: labels have no prefix, and Argo CD has no repository.",
    fix="""
        Run `trainyard init`, or write the file with `format`, `domain` and `repository`.
    """,
)
