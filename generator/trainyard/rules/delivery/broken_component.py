"""Text of `delivery/broken-component`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/broken-component",
    severity=Severity.ERROR,
    summary="""
        Each file that a hand-written Component lists exists beside it and holds Kubernetes objects.
    """,
    why="""
        Kustomize can't build the team's unit, and Argo CD delivers nothing more of that team:
        `ComparisonError`, `no such file or directory`, soon `Manifest generation error (cached)`,
        until a commit corrects it (seen with Argo CD 3.5.7).
    """,
    fix="Correct the Component's `resources`, or the file.",
)
