"""Text of `references/undefined-name`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="references/undefined-name",
    severity=Severity.ERROR,
    summary="""
        Every name that an object uses is defined in the tree, or declared under the cluster's
        `external`.
    """,
    why="""
        The API server accepts the object, and its controller waits for the missing one: a queue
        reports `there is no Topology "<topology>" for TAS flavor`; a job whose `LocalQueue <queue>
        doesn't exist` has no event (both seen with Kueue 0.19.2).
    """,
    fix="Define it, or declare it with its owner under `external` of the cluster.",
)
