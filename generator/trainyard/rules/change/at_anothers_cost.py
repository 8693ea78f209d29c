"""Text of `change/at-anothers-cost`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/at-anothers-cost",
    severity=Severity.WARNING,
    summary="No team gains nodes that a team of other owners loses in the same change.",
    why="""
        The other team's jobs wait for nodes that it had. Approval by the owners of the gaining team
        alone would decide this for it.
    """,
    fix="Let the owners of the other team's profile approve the change.",
)
