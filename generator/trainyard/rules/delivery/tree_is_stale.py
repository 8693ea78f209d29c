"""Text of `delivery/tree-is-stale`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/tree-is-stale",
    severity=Severity.ERROR,
    summary="The committed tree equals, byte for byte, what its profiles generate.",
    why="""
        Argo CD syncs the committed tree (seen with Argo CD 3.5.7): the cluster differs from the
        reviewed profiles.
    """,
    fix="Run `trainyard generate` and commit what it writes; never edit the tree by hand.",
)
