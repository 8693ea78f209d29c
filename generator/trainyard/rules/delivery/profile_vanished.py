"""Text of `delivery/profile-vanished`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/profile-vanished",
    severity=Severity.ERROR,
    summary="""
        A profile that the tree was made from still exists, or is replaced by a tombstone.
    """,
    why="""
        The platform's unit prunes the profile's objects. A queue takes no more jobs and stays until
        the running ones end (`Can't admit new workloads; clusterQueue is terminating`, seen with
        Kueue 0.19.2). A runtime is missing (`specified clusterTrainingRuntime must be created
        before the TrainJob is created`, seen with Trainer 2.3.0). A team's own unit stays on the
        cluster with its roles, and Argo CD no longer reconciles it.
    """,
    fix="""
        Restore the file from Git. A team or a cluster ends by a tombstone: merge `state: draining`,
        then `state: retired`. The profile of a cluster may go after that.
    """,
)
