"""Text of `references/unknown-adopted`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="references/unknown-adopted",
    severity=Severity.ERROR,
    summary="Each entry of `adopt.objects` names an object that Argo CD applies from the tree.",
    why="""
        The entry takes over nothing: the object that it was meant for is taken over without
        protection, or not at all.
    """,
    fix="""
        Write the kind and the name as the tree has them, with the namespace between both if it has
        one; or delete the entry.
    """,
)
