"""Text of `references/uncovered-resource`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="references/uncovered-resource",
    severity=Severity.ERROR,
    summary="""
        A queue of each team that may use a runtime covers every resource that its pods request.
    """,
    why="""
        Kueue never admits the job and shows no error at the job itself: its workload has `couldn't
        assign flavors to pod set node: resource <resource> unavailable in ClusterQueue` (seen with
        Kueue 0.19.2, and alike with 0.16.2).
    """,
    fix="""
        Give the team nodes of the hardware that the runtime runs on, or remove the resource from
        the runtime.
    """,
)
