"""Text of `change/immutable-field`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/immutable-field",
    severity=Severity.ERROR,
    summary="A field that the API server never changes keeps its committed value.",
    why="""
        The API server rejects the changed object, so the cluster keeps the old one. Argo CD repeats
        the sync without end, and the unit is never in sync.
    """,
    fix="""
        Restore the old value. To change it, add a pool, fabric or kind of storage with a new name
        beside the old one. Remove the old one in a later change, when it is unused.
    """,
)
