"""Text of `preflight/adopted-differs`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="preflight/adopted-differs",
    severity=Severity.WARNING,
    summary="An object that a profile adopts says what the tree says.",
    why="""
        The sync overwrites the field. Others may rely on it: a priority class orders jobs that
        wait in other queues too, and a flavor's labels choose the nodes of every queue that names
        it.
    """,
    fix="Write the value of the cluster into the profiles, or tell the owner before the sync.",
)
