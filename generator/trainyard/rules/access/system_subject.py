"""Find roles of groups that the identity provider does not manage."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active
from trainyard.rules.access._roles import cluster_roles, team_roles

CLUSTER_GROUPS = frozenset(
    {"cluster-admin", "cluster-admins", "cluster-readers", "dedicated-admins", "kubeadmin"}
)
"""Groups that installers and managed OpenShift create for the cluster's administrators."""


RULE = Rule(
    id="access/system-subject",
    severity=Severity.ERROR,
    summary="Only groups of the identity provider have roles, never groups of the platform itself.",
    why="""
        Every member of the group has the role (seen with Kubernetes 1.36.3: another team's pods
        read this one's jobs): `system:authenticated` is every user with an account, and
        `system:serviceaccounts` every pod of the cluster. With a group of cluster administrators,
        no review can show who has which rights.
    """,
    fix="Replace it with a group of people that the identity provider manages.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for group, role, at in _groups(platform):
        if group.startswith("system:") or group in CLUSTER_GROUPS:
            message = f"group `{group}` has the role {role}, but is a group of the platform itself"
            yield RULE.at(at, message)


def _groups(platform: Platform) -> Iterator[tuple[str, str, Pointer]]:
    """Yield every group that has a role in a team or a cluster, with the role and its place."""
    for team in active(platform):
        yield from team_roles(team)
    for site in platform.sites:
        for role, group in cluster_roles(site.cluster):
            yield group, role, site.cluster.at / "roles" / role


CHECK = Check(RULE, find)
