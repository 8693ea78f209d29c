"""Text of `delivery/kind-not-permitted`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/kind-not-permitted",
    severity=Severity.ERROR,
    summary="""
        An AppProject lists every kind in its unit; Namespace is a team's only cluster-wide kind.
    """,
    why="""
        Argo CD rejects the whole unit, and the permitted objects of the same commit are not applied
        either: `resource rbac.authorization.k8s.io:ClusterRoleBinding is not permitted in project
        ...` (seen with Argo CD 3.5.7).
    """,
    fix="""
        Leave the object to the owner of its kind. A namespaced object must have
        `metadata.namespace`.
    """,
)
