"""Text of `references/defined-twice`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="references/defined-twice",
    severity=Severity.ERROR,
    summary="""
        No two manifests define the same object, and none defines one that others make in every
        namespace.
    """,
    why="""
        The build of a unit that has both fails. Two units overwrite the object in turn. Of two
        ExternalSecrets with one Secret, jobs read the values of the first.
    """,
    fix="Remove one of the two, or give it another name.",
)
