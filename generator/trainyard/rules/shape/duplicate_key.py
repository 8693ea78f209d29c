"""Text of `shape/duplicate-key`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/duplicate-key",
    severity=Severity.ERROR,
    summary="A mapping has each key once.",
    why="""
        Some readers silently take the last value, others reject the file: the quota in force may
        differ from the reviewed one.
    """,
    fix="Keep one of the two.",
)
