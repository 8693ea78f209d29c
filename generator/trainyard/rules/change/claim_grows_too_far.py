"""Text of `change/claim-grows-too-far`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/claim-grows-too-far",
    severity=Severity.ERROR,
    summary="A claim grows by at most what the quota on the cluster has room for.",
    why="""
        Argo CD compares by a dry run, which the quota on the cluster refuses, although the same
        merge raises it: `ComparisonError`, `exceeded quota: object-counts` (seen with Argo CD 3.5
        and Kubernetes 1.36). The team's Application stays `Unknown`, and later merges wait.
    """,
    fix="""
        Grow the claim in several merges: each may make it ten times as large. Wait until Argo CD
        has synced one before you merge the next. A claim never shrinks again.
    """,
)
