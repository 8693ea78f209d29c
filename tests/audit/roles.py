"""Roles and bindings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.audit.tree import Document, Tree

WRITES = {"create", "delete", "deletecollection", "patch", "update"}
POWERS = {"bind", "escalate", "impersonate"}
POD_ACCESS = {
    "pods/attach",
    "pods/ephemeralcontainers",
    "pods/exec",
    "pods/portforward",
    "pods/proxy",
}
POWERFUL = {"admin", "cluster-admin", "edit"}
PLATFORM_OWNED = {
    "limitranges",
    "namespaces",
    "network-attachment-definitions",
    "networkpolicies",
    "resourcequotas",
    "rolebindings",
    "roles",
    "serviceaccounts",
    "trainingruntimes",
}


def _rules(tree: Tree) -> Iterator[tuple[Document, dict[str, Any]]]:
    for role in tree.of("ClusterRole", "Role"):
        for rule in role.body.get("rules") or ():
            yield role, rule


def no_wildcards(tree: Tree) -> Iterator[str]:
    for role, rule in _rules(tree):
        for field in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
            if any("*" in each for each in rule.get(field, ())):
                yield f"{role.path}: wildcard in {field}"


def no_secrets(tree: Tree) -> Iterator[str]:
    for role, rule in _rules(tree):
        if {"secrets", "serviceaccounts/token"} & set(rule.get("resources", ())):
            yield f"{role.path}: may {', '.join(rule['verbs'])} secrets"


def no_access_into_pods(tree: Tree) -> Iterator[str]:
    for role, rule in _rules(tree):
        resources = set(rule.get("resources", ()))
        debugs = role.name == "trainyard-team-debugger" and resources == {"pods/exec"}
        if resources & POD_ACCESS and not debugs:
            yield f"{role.path}: may use {sorted(resources & POD_ACCESS)}"
        if "pods" in resources and {"create", "patch", "update"} & set(rule["verbs"]):
            yield f"{role.path}: may create or change pods"


def no_self_promotion(tree: Tree) -> Iterator[str]:
    for role, rule in _rules(tree):
        powers = POWERS & set(rule["verbs"])
        if powers and (
            not role.path.startswith("argocd/") or rule["resources"] != ["clusterroles"]
        ):
            yield f"{role.path}: may {sorted(powers)} {rule['resources']}"


def teams_write_nothing_of_the_platform(tree: Tree) -> Iterator[str]:
    for role, rule in _rules(tree):
        if not role.name.startswith("trainyard-team-") or not WRITES & set(rule["verbs"]):
            continue
        owned = PLATFORM_OWNED & set(rule["resources"])
        if role.name == "trainyard-team-runtimes":
            owned -= {"trainingruntimes"}
        if owned or any(group.endswith("kueue.x-k8s.io") for group in rule["apiGroups"]):
            yield f"{role.path}: a team may write {sorted(owned) or rule['resources']}"


def no_powerful_bindings(tree: Tree) -> Iterator[str]:
    for binding in tree.of("ClusterRoleBinding", "RoleBinding"):
        if binding.body["roleRef"]["name"] in POWERFUL:
            yield f"{binding.path}: binds {binding.body['roleRef']['name']}"
        for subject in binding.body["subjects"]:
            if subject["name"].startswith("system:"):
                yield f"{binding.path}: subject {subject['name']}"


Subject = tuple[str, str, str]
"""Namespace, kind and name."""


_ROLES = ("admin", "debugger", "user", "viewer")


def _expected(tree: Tree) -> dict[str, set[Subject]]:
    """Return role -> (namespace, kind, name) of the team profiles."""
    expected: dict[str, set[Subject]] = {role: set() for role in _ROLES}
    for team, profile in tree.teams.items():
        for namespace in tree.namespaces(team):
            for role, groups in profile.get("groups", {}).items():
                expected[role].update((namespace, "Group", group) for group in groups)
            debuggers = profile.get("debuggers", {}).get("groups", [])
            expected["debugger"].update((namespace, "Group", group) for group in debuggers)
            for name, account in profile.get("serviceAccounts", {}).items():
                expected[account["role"]].add((namespace, "ServiceAccount", name))
    return expected


def team_roles_follow_the_profiles(tree: Tree) -> Iterator[str]:
    """Roles have exactly the profile's subjects, each in its own team's namespace."""
    bound: dict[str, set[Subject]] = {role: set() for role in _ROLES}
    for binding, role, subject in _bound(tree):
        home = subject.get("namespace", binding.namespace)
        if home != binding.namespace and (role, home) != _CLEANUP:
            yield f"{binding.path}: an account of {home} has a role in {binding.namespace}"
        if role in bound:
            bound[role].add((binding.namespace, subject["kind"], subject["name"]))
    for role, expected in _expected(tree).items():
        for extra in sorted(bound[role] - expected):
            yield f"{extra} is bound as {role}, which is in no profile"
        for missing in sorted(expected - bound[role]):
            yield f"{missing} of a profile is not bound as {role}"


_CLEANUP = ("trainyard-finished-jobs", "trainyard-system")
"""Role and namespace of the account that deletes finished jobs in team namespaces."""


def _bound(tree: Tree) -> Iterator[tuple[Document, str, dict[str, str]]]:
    """Yield each RoleBinding with its role, without the teams' prefix, and each subject."""
    for binding in tree.of("RoleBinding"):
        role = binding.body["roleRef"]["name"].removeprefix("trainyard-team-")
        for subject in binding.body["subjects"]:
            yield binding, role, subject


def people_of_teams_have_one_cluster_wide_role(tree: Tree) -> Iterator[str]:
    people = {(kind, name) for role in _expected(tree).values() for _, kind, name in role}
    for binding in tree.of("ClusterRoleBinding"):
        for subject in binding.body["subjects"]:
            held_by_team = (subject["kind"], subject["name"]) in people
            in_team = str(subject.get("namespace", "")).startswith("team-")
            role = binding.body["roleRef"]["name"]
            if (held_by_team or in_team) and role != "trainyard-catalog-viewer":
                yield f"{binding.path}: {subject['name']} of a team"


def catalog_viewer_only_reads_the_catalog(tree: Tree) -> Iterator[str]:
    shared = {"clustertrainingruntimes", "resourceflavors", "topologies", "workloadpriorityclasses"}
    for role, rule in _rules(tree):
        if role.name == "trainyard-catalog-viewer" and (
            set(rule["resources"]) - shared or WRITES & set(rule["verbs"])
        ):
            yield f"{role.path}: {rule['verbs']} {rule['resources']}"


AUDITS = (
    no_wildcards,
    no_secrets,
    no_access_into_pods,
    no_self_promotion,
    teams_write_nothing_of_the_platform,
    no_powerful_bindings,
    team_roles_follow_the_profiles,
    people_of_teams_have_one_cluster_wide_role,
    catalog_viewer_only_reads_the_catalog,
)
