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
        it. What `kubectl apply` wrote and Git lacks is deleted (seen with Argo CD 3.5.7): labels by
        which policies choose namespaces, those of Pod Security, and the volume that a claim names.
        The API server refuses the last, so the sync of the team fails.
    """,
    fix="""
        Write the value of the cluster into the profiles, or tell the owner before the sync. An
        owner who first runs `kubectl apply --server-side` with the same file keeps what it has.
    """,
)
