"""Text of `change/unused-waiver`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/unused-waiver",
    severity=Severity.WARNING,
    summary="Each waiver in profiles/waivers.yaml matches a warning.",
    why="""
        The waiver would hide the same mistake when it is made again. That of an error hides
        nothing, and its reader thinks that somebody accepted the risk.
    """,
    fix="Remove the waiver. An error can be waived only if its page says so.",
)
