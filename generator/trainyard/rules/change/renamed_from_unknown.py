"""Text of `change/renamed-from-unknown`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/renamed-from-unknown",
    severity=Severity.ERROR,
    summary="`renamedFrom` of a new team names a team of the committed tree.",
    why="""
        The team is created as a new one, with numbers and a folder of its own. The team that was
        meant stays, or leaves the tree without its successor.
    """,
    fix="Correct the name, or remove `renamedFrom`.",
)
