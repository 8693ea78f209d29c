"""Find roles of groups and users that the identity provider does not manage."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.people import name_of, quoted
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.access._roles import all_roles

CLUSTER_GROUPS = frozenset(
    {"cluster-admin", "cluster-admins", "cluster-readers", "dedicated-admins", "kubeadmin"}
)
"""Groups that installers and managed OpenShift create for the cluster's administrators."""

CLUSTER_USERS = frozenset({"kube:admin", "kubernetes-admin"})
"""Users that installers create: of OpenShift (openshift/oauth-server:pkg/server/bootstrap), and of
kubeadm (kubernetes/kubernetes:cmd/kubeadm/app/phases/kubeconfig/kubeconfig.go)."""


RULE = Rule(
    id="access/system-subject",
    severity=Severity.ERROR,
    summary="""
        Only groups and users of the identity provider have roles, never those of the platform
        itself.
    """,
    why="""
        Every member of the group has the role (seen with Kubernetes 1.36.3: another team's pods
        read this one's jobs): `system:authenticated` is every user with an account, and
        `system:serviceaccounts` every pod of the cluster. With a group of cluster administrators,
        no review can show who has which rights.
    """,
    fix="""
        Replace it with a group of people that the identity provider manages. An account of a
        program belongs under `serviceAccounts` in the team's profile.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for group, role, at in all_roles(platform):
        name = name_of(group)
        if name.startswith("system:") or name in CLUSTER_GROUPS | CLUSTER_USERS:
            message = f"{quoted(group)} has the role {role}, but belongs to the platform itself"
            yield RULE.at(at, message)


CHECK = Check(RULE, find)
