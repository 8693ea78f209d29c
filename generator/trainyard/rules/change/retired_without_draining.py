"""Text of `change/retired-without-draining`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/retired-without-draining",
    severity=Severity.ERROR,
    summary="""
        A team or cluster is retired only after its queues were drained in an earlier merge.
    """,
    why="""
        Argo CD prunes the team's queue, and its pods keep running (`Can't admit new workloads;
        clusterQueue is terminating`, seen with Kueue 0.19.2). Its nodes already count as free: a
        team that gets them has quota for GPUs that these pods still use. Of a retired cluster Argo
        CD compares nothing any more: jobs run on, and nobody keeps their roles and networks.
    """,
    fix="""
        Set `state: draining` (`states: {CLUSTER: draining}` for a team on one cluster) and merge
        only that. Set `retired`, and give its nodes to others, in a later merge.
    """,
)
