"""Text of `change/overridden-owners`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/overridden-owners",
    severity=Severity.WARNING,
    summary="No line after Trainyard's block of CODEOWNERS matches a file of the block.",
    why="""
        The last line that matches a file decides, so this line replaces the owners that the
        profiles state.
    """,
    fix="Move the line above the block, or begin its pattern with another folder.",
)
