"""Text of `references/unknown-place`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="references/unknown-place",
    severity=Severity.ERROR,
    summary="""
        A profile is added to a cluster, node pool, fabric or hardware that exists; it is named
        where there are several.
    """,
    why="Its quota would be of nodes that are nowhere, and no job of it would ever start.",
    fix="Name one that exists.",
)
