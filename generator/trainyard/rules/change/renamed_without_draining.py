"""Text of `change/renamed-without-draining`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/renamed-without-draining",
    severity=Severity.ERROR,
    summary="A team is renamed only after its queues were drained in an earlier merge.",
    why="""
        Argo CD prunes the queue with the old name, and its pods keep running (`Can't admit new
        workloads; clusterQueue is terminating`, seen with Kueue 0.19.2). Jobs in the new namespace
        get the same nodes, partition and addresses as these pods.
    """,
    fix="""
        Restore the old profile, set `state: draining` and merge only that. Rename the team in a
        later merge.
    """,
)
