"""Text of `shape/choice-open`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/choice-open",
    severity=Severity.ERROR,
    summary="Nothing that `trainyard import` could not read is left to choose in a profile.",
    why="""
        The profile lacks what the running cluster has, so the first sync would take it away: quota,
        a network, a group's access.
    """,
    fix="Write the value in place of the comment, or delete the comment if you decide against it.",
)
