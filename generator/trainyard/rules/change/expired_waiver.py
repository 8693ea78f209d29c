"""Text of `change/expired-waiver`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/expired-waiver",
    severity=Severity.ERROR,
    summary="No waiver in profiles/waivers.yaml has passed its last day.",
    why="The exception would become permanent without a new decision.",
    fix="Correct what it waives and remove the waiver, or decide again and set a later `expires`.",
)
