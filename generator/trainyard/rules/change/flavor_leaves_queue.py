"""Text of `change/flavor-leaves-queue`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/flavor-leaves-queue",
    severity=Severity.ERROR,
    summary="A queue keeps its pools, by name, as long as its team is not drained.",
    why="""
        Kueue no longer counts jobs on a flavor that their queue doesn't list: jobs ran beyond the
        quota, and a flavor that is deleted while it is used hangs: `Detected changes to resource
        <pool> which is currently being deleted` (both seen with Kueue 0.19.2). A pool that is
        renamed is another flavor.
    """,
    fix="""
        Keep the pool and its name. To remove it, first merge only `states: {CLUSTER: draining}` for
        its teams.
    """,
)
