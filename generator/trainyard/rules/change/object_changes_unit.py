"""Text of `change/object-changes-unit`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/object-changes-unit",
    severity=Severity.ERROR,
    summary="An object moves to another sync unit only after `Prune=false` on it was merged.",
    why="""
        Argo CD syncs the two units in no order. The Application of the old unit deletes objects
        that left its folder, unless the object on the cluster has `Prune=false` (seen with Argo CD
        3.5.7).
        When a SriovNetworkNodePolicy is deleted, the SR-IOV operator resets the virtual functions
        under running jobs.
    """,
    fix="""
        Set `nodes: {sync: with-platform}` in the cluster's profile, merge only that, and wait
        until Argo CD has synced `platform/`: each object then has `Prune=false`. Remove the key in
        a later merge.
    """,
)
