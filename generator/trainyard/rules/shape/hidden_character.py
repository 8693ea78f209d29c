"""Text of `shape/hidden-character`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/hidden-character",
    severity=Severity.ERROR,
    summary="""
        The file and its values hold no control, bidirectional, zero-width or other invisible
        character.
    """,
    why="""
        The cluster gets another value than the reviewer sees: some readers end a line, and so a
        comment, at such a character.
    """,
    fix="Delete the character.",
)
