"""Text of `shape/ambiguous-storage`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/ambiguous-storage",
    severity=Severity.ERROR,
    summary="""
        Each storage of a cluster has exactly one of `adopted`, `class`, `nfs` and `s3`.
    """,
    why="""
        No claim, volume or key is generated for any team, because they differ by the kind of
        storage.
    """,
    fix="""
        Keep one of `adopted`, `class`, `nfs` and `s3`; define a second storage for another.
    """,
)
