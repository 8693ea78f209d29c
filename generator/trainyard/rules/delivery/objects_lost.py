"""Text of `delivery/objects-lost`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/objects-lost",
    severity=Severity.ERROR,
    summary="""
        Kustomizations list, kustomize builds and both validators accept the same number of objects.
    """,
    why="An object that no tool looked at may be refused by the cluster, or never reach it.",
    fix="""
        A hand-written component must only add objects; for anything else, report a bug of
        Trainyard.
    """,
)
