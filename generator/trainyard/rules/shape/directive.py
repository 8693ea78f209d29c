"""Text of `shape/directive`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/directive",
    severity=Severity.ERROR,
    summary="The file has no YAML directive.",
    why="""
        A directive changes how the rest is read, and not every reader of the file obeys it.
    """,
    fix="Remove the lines that begin with `%`.",
)
