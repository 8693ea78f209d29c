"""Text of `change/namespace-left-behind`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/namespace-left-behind",
    severity=Severity.ERROR,
    summary="A team keeps each of its namespaces as long as it is not drained.",
    why="""
        The namespace stays (`Prune=false`) with what runs in it, while Argo CD prunes its
        default-deny policy, roles and queue: its pods can be reached from every namespace and reach
        every host. Its jobs keep running, and the team no longer has rights there.
    """,
    fix="""
        Restore the space, or the line `namespace` as it was. To remove a namespace or give it
        another name, first merge only `state: draining` for its team.
    """,
)
