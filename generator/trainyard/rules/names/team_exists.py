"""Text of `names/team-exists`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="names/team-exists",
    severity=Severity.ERROR,
    summary="A new team's name is one that no team has or ever had.",
    why="""
        The new team would get what the old one left: its partition, its addresses and its folders
        on shared storage.
    """,
    fix="Choose another name, or change the team that is there in its own file.",
)
