"""Text of `delivery/unit-vanished`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/unit-vanished",
    severity=Severity.ERROR,
    summary="A team leaves a cluster by a tombstone, not by losing its quota there.",
    why="""
        Argo CD leaves all objects of the unit on the cluster, with their roles, and no longer
        reconciles them (`ComparisonError ... app path does not exist`, seen with Argo CD 3.5.7).
        The platform's unit prunes the team's queue: `Can't admit new workloads; clusterQueue is
        terminating` (seen with Kueue 0.19.2).
    """,
    fix="""
        Restore the quota. To leave one cluster, merge `states: {CLUSTER: draining}`, then
        `states: {CLUSTER: retired}`; the quota may go with the second.
    """,
)
