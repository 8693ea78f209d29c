"""Text of `delivery/unit-does-not-build`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/unit-does-not-build",
    severity=Severity.ERROR,
    summary="Kustomize builds each sync unit.",
    why="""
        Argo CD can't render the unit: its Application stays in `ComparisonError` and nothing of it
        is delivered, until a commit puts it right (seen with Argo CD 3.5.7: `may not add resource
        with an already registered id`).
    """,
    fix="""
        Correct the hand-written component that kustomize names; for anything else, report a bug of
        Trainyard.
    """,
)
