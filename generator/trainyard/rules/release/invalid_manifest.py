"""Text of `release/invalid-manifest`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="release/invalid-manifest",
    severity=Severity.ERROR,
    summary="""
        Every object fits the strict schema of its kind in the release, hand-written components
        included.
    """,
    why="""
        The API server refuses the object, e.g. `.spec.runtimePatches: field not declared in schema`
        (seen with Trainer 2.1.0), and Argo CD's sync of the whole unit fails. Without field
        validation it silently drops the field.
    """,
    fix="""
        Correct the object if it is in a component. Trainyard makes every other object: report the
        message, the release and the profile as a bug of Trainyard.
    """,
)
