"""Text of `shape/unformatted`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/unformatted",
    severity=Severity.ERROR,
    summary="""
        A profile has the style that `trainyard fmt` writes; only `fmt --check` looks at it.
    """,
    why="""
        Nothing changes on the cluster. A later change of the file shows its spaces and quotes
        beside what it means.
    """,
    fix="Run `trainyard fmt`.",
)
