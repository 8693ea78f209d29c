"""Text of `shape/anchor-or-alias`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/anchor-or-alias",
    severity=Severity.ERROR,
    summary="Every value is written out: no anchors, aliases or merge keys.",
    why="""
        A change at the anchor changes distant values that the diff does not show, and nested
        aliases grow without bound.
    """,
    fix="""
        Write the value out; put values that many profiles share into a profile that they refer to.
    """,
)
