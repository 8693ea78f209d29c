"""Defects that the audits of roles must find."""

from __future__ import annotations

from tests.audit import roles
from tests.audit.defects.defect import Defect

_ADMIN = "clusterrole-trainyard-team-admin.yaml"
_SUBJECT = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "nlp"}


def _rule(group: str, resource: str, *verbs: str) -> dict[str, list[str]]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


DEFECTS = (
    Defect(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("", "pods", "*")),
    Defect(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("*", "pods", "get")),
    Defect(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "secrets", "list")),
    Defect(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "serviceaccounts/token", "create")),
    Defect(roles.no_access_into_pods, _ADMIN, ("rules", 0), _rule("", "pods/exec", "create")),
    Defect(roles.no_access_into_pods, _ADMIN, ("rules", 0), _rule("", "pods", "create")),
    Defect(
        roles.no_access_into_pods,
        "clusterrole-trainyard-team-debugger.yaml",
        ("rules", 1, "resources"),
        ["pods/exec", "pods/portforward"],
    ),
    Defect(roles.no_self_promotion, _ADMIN, ("rules", 0), _rule("", "users", "impersonate")),
    Defect(
        roles.teams_write_nothing_of_the_platform,
        _ADMIN,
        ("rules", 0),
        _rule("", "resourcequotas", "update"),
    ),
    Defect(
        roles.teams_write_nothing_of_the_platform,
        _ADMIN,
        ("rules", 0),
        _rule("kueue.x-k8s.io", "workloads", "patch"),
    ),
    Defect(
        roles.teams_write_nothing_of_the_platform,
        _ADMIN,
        ("rules", 0),
        _rule("trainer.kubeflow.org", "trainingruntimes", "create"),
    ),
    Defect(
        roles.no_powerful_bindings, "teams/nlp/rolebinding-admin.yaml", ("roleRef", "name"), "admin"
    ),
    Defect(
        roles.no_powerful_bindings,
        "teams/nlp/rolebinding-viewer.yaml",
        ("subjects", 0, "name"),
        "system:authenticated",
    ),
    Defect(
        roles.team_roles_follow_the_profiles,
        "teams/nlp/rolebinding-admin.yaml",
        ("subjects", 0, "name"),
        "vision",
    ),
    Defect(
        roles.people_of_teams_have_one_cluster_wide_role,
        "clusterrolebinding-trainyard-operator.yaml",
        ("subjects", 0),
        _SUBJECT,
    ),
    Defect(
        roles.catalog_viewer_only_reads_the_catalog,
        "clusterrole-trainyard-catalog-viewer.yaml",
        ("rules", 0),
        _rule("kueue.x-k8s.io", "clusterqueues", "get"),
    ),
)
