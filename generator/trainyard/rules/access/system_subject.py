"""Look at the groups of every team and of the platform's own roles."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

CLUSTER_GROUPS = frozenset(
    {"cluster-admin", "cluster-admins", "cluster-readers", "dedicated-admins", "kubeadmin"}
)
"""Groups that installers and managed OpenShift make for the cluster's administrators."""


RULE = Rule(
    id="access/system-subject",
    severity=Severity.ERROR,
    summary="Roles go to groups of the identity provider, never to groups of the platform itself.",
    why="""
        `system:authenticated` is everybody with an account and `system:serviceaccounts` every pod
        of the cluster: all of them have the role (seen with Kubernetes 1.36.3: another team's pods
        read this one's jobs). A group of cluster administrators makes who may do what impossible to
        review.
    """,
    fix="Name a group of people that the identity provider keeps.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for group, role, at in _groups(platform):
        if group.startswith("system:") or group in CLUSTER_GROUPS:
            yield RULE.at(
                at, f"`{group}` has the role {role}, but is no group of the identity provider"
            )


def _groups(platform: Platform) -> Iterator[tuple[str, str, Pointer]]:
    for team in active(platform):
        for role, groups in team.groups.items():
            yield from ((group, role, team.at / "groups" / role) for group in groups)
    for site in platform.sites:
        for role, groups in (
            ("operator", site.cluster.operators),
            ("auditor", site.cluster.auditors),
        ):
            yield from ((group, role, site.cluster.at / "roles" / role) for group in groups)


CHECK = Check(RULE, find)
