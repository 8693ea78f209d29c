"""Text of `fabric/already-allocated`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="fabric/already-allocated",
    severity=Severity.ERROR,
    summary="A team is given numbers on a fabric once.",
    why="""
        Its numbers are permanent: pods that run with the old ones would lose their network.
    """,
    fix="Use the numbers that the team has.",
)
