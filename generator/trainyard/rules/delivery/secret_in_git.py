"""Text of `delivery/secret-in-git`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/secret-in-git",
    severity=Severity.ERROR,
    summary="No file holds what looks like a credential.",
    why="""
        Git keeps it permanently, and everybody with a checkout has it; the team's viewers read it
        in a component's ConfigMap (seen with Kubernetes 1.36.3).
    """,
    fix="""
        Revoke it, since others may have seen it. Put the new one into the secret store; the team
        gets it by `storage`, `pullSecrets` or an ExternalSecret in a component.
    """,
)
