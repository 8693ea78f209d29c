"""Text of `delivery/namespace-not-permitted`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/namespace-not-permitted",
    severity=Severity.ERROR,
    summary="Every object of a unit is in a namespace that its AppProject may write into.",
    why="""
        Argo CD rejects the whole unit, and the permitted objects of the same commit are not applied
        either: `namespace <namespace> is not permitted in project ...` (seen with Argo CD 3.5.7).
    """,
    fix="A component of a team may hold objects of the team's own namespace only.",
)
