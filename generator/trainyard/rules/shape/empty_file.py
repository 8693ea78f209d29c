"""Text of `shape/empty-file`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/empty-file",
    severity=Severity.ERROR,
    summary="The file is not empty.",
    why="""
        An empty profile would silently remove its team, hardware or cluster from the tree.
    """,
    fix="Fill in the profile, or take its last content from Git.",
)
