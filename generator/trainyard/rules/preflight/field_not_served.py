"""Text of `preflight/field-not-served`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="preflight/field-not-served",
    severity=Severity.ERROR,
    summary="The cluster's CRDs accept each object of the tree, with each of its fields.",
    why="""
        The API server refuses a value that the schema of its CRD does not allow. It drops a field
        that the schema does not have, and the object then means something else.
    """,
    fix="""
        Install the operator's version that the release pins, or make a release for this cluster
        with `trainyard release new NAME --from RELEASE --facts FILE`.
    """,
)
