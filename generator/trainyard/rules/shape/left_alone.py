"""Text of `shape/left-alone`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/left-alone",
    severity=Severity.ERROR,
    summary="""
        `trainyard fmt` can write a profile in its style and keep the data and each comment.
    """,
    why="Nothing changes on the cluster. The file keeps the style that it has.",
    fix="""
        Move the comment to the end of its line or to a line of its own, outside of braces and
        brackets.
    """,
)
