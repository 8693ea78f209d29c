from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.audit import capacity, delivery, isolation, roles, workloads
from tests.audit.tree import Document, Tree, clusters, load

Audit = Callable[[Tree], Iterator[str]]
AUDITS: tuple[Audit, ...] = (
    *roles.AUDITS,
    *isolation.AUDITS,
    *capacity.AUDITS,
    *delivery.AUDITS,
    *workloads.AUDITS,
)
FLAGSHIP = "prod-east"


@dataclass(frozen=True)
class Sin:
    """A change to one object that an audit must find.

    Args:
        at: file, or its end.
        path: keys and indexes to what is changed.
        value: what stands there then; None takes it away.
    """

    audit: Audit
    at: str
    path: tuple[str | int, ...]
    value: Any = None


_DEFAULT_DENY = "teams/nlp/networkpolicy-default-deny.yaml"
_JOBS = "teams/nlp/networkpolicy-jobs.yaml"
_NETWORK = "teams/nlp/networkattachmentdefinition-ib-rail-0.yaml"
_QUEUE = "clusterqueue-nlp-gpu.yaml"
_RESOURCES = ("spec", "resourceGroups", 0, "flavors", 0, "resources")
_RUNTIME = "clustertrainingruntime-deepspeed-v1-dgx-h100.yaml"
_REPLICATED = ("spec", "template", "spec", "replicatedJobs")
_POD = (*_REPLICATED, 0, "template", "spec", "template", "spec")
_CONTAINER = (*_POD, "containers", 0)
_ADMIN = "clusterrole-trainyard-team-admin.yaml"
_SUBJECT = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "nlp"}
_SET = "applicationset-prod-east-teams.yaml"
_LIMITS = "validatingadmissionpolicybinding-trainjob-limits-nlp.yaml"
_PROJECT = "appproject-prod-east-team-nlp.yaml"
_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_EVIL_CNI = '{"pkey":"0x0103","rdmaIsolation":true,"ibKubernetesEnabled":true,"ipam":{"range":"%s","network_name":"x"}}'


def _rule(group: str, resource: str, *verbs: str) -> dict[str, list[str]]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


SINS = (
    Sin(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("", "pods", "*")),
    Sin(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("*", "pods", "get")),
    Sin(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "secrets", "list")),
    Sin(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "serviceaccounts/token", "create")),
    Sin(roles.no_way_into_pods, _ADMIN, ("rules", 0), _rule("", "pods/exec", "create")),
    Sin(roles.no_way_into_pods, _ADMIN, ("rules", 0), _rule("", "pods", "create")),
    Sin(roles.no_self_promotion, _ADMIN, ("rules", 0), _rule("", "users", "impersonate")),
    Sin(roles.teams_write_nothing_of_the_platform, _ADMIN, ("rules", 0), _rule("", "resourcequotas", "update")),
    Sin(
        roles.teams_write_nothing_of_the_platform,
        _ADMIN,
        ("rules", 0),
        _rule("kueue.x-k8s.io", "workloads", "patch"),
    ),
    Sin(roles.no_mighty_bindings, "teams/nlp/rolebinding-admin.yaml", ("roleRef", "name"), "admin"),
    Sin(
        roles.no_mighty_bindings,
        "teams/nlp/rolebinding-viewer.yaml",
        ("subjects", 0, "name"),
        "system:authenticated",
    ),
    Sin(
        roles.team_roles_are_bound_as_the_profiles_say,
        "teams/nlp/rolebinding-admin.yaml",
        ("subjects", 0, "name"),
        "vision",
    ),
    Sin(
        roles.team_roles_are_bound_as_the_profiles_say,
        "teams/nlp/rolebinding-job-scc.yaml",
        ("subjects", 0, "namespace"),
        "team-vision",
    ),
    Sin(
        roles.people_of_teams_have_one_cluster_wide_role,
        "clusterrolebinding-trainyard-operator.yaml",
        ("subjects", 0),
        _SUBJECT,
    ),
    Sin(
        roles.catalog_viewer_only_reads_the_catalog,
        "clusterrole-trainyard-catalog-viewer.yaml",
        ("rules", 0),
        _rule("kueue.x-k8s.io", "clusterqueues", "get"),
    ),
    Sin(
        isolation.no_team_names_another, "samples/trainjob-nlp-deepspeed.yaml", ("metadata", "namespace"), "team-vision"
    ),
    Sin(
        isolation.no_team_names_another,
        "teams/nlp/externalsecret-checkpoints.yaml",
        ("spec", "dataFrom", 0, "extract", "key"),
        "ml/teams/vision/checkpoints",
    ),
    Sin(isolation.partitions_are_each_teams_own, _NETWORK, ("spec", "config"), _EVIL_CNI % "10.64.0.0/23"),
    Sin(isolation.addresses_are_disjoint, _NETWORK, ("spec", "config"), _EVIL_CNI % "10.64.32.0/23"),
    Sin(isolation.networks_stand_in_teams_namespaces, _NETWORK, ("metadata", "namespace"), "default"),
    Sin(
        isolation.volumes_are_each_teams_own,
        "persistentvolume-prod-east-nlp-home.yaml",
        ("spec", "nfs", "path"),
        "/export/home/vision",
    ),
    Sin(isolation.every_team_is_denied_by_default, _DEFAULT_DENY, ("spec", "egress", 0, "to", 0), {"podSelector": {}}),
    Sin(isolation.every_team_is_denied_by_default, _DEFAULT_DENY, ("spec", "ingress")),
    Sin(isolation.every_team_is_denied_by_default, _DEFAULT_DENY, ("spec", "policyTypes"), ["Ingress"]),
    Sin(isolation.no_network_path_between_teams, _JOBS, ("spec", "egress", 0), {}),
    Sin(isolation.no_network_path_between_teams, _JOBS, ("spec", "egress", 0, "to", 0), {"namespaceSelector": {}}),
    Sin(
        isolation.no_network_path_between_teams,
        _JOBS,
        ("spec", "egress", 0, "to", 0),
        {"ipBlock": {"cidr": "10.128.4.0/24"}},
    ),
    Sin(isolation.queues_and_policies_take_one_namespace, _QUEUE, ("spec", "namespaceSelector"), {}),
    Sin(isolation.queues_and_policies_take_one_namespace, _LIMITS, ("spec", "matchResources", "namespaceSelector"), {}),
    Sin(isolation.every_team_is_held_to_its_limits, _LIMITS, ("spec", "policyName"), "other"),
    Sin(isolation.every_team_is_held_to_its_limits, _LIMITS, ("spec", "validationActions"), ["Audit"]),
    Sin(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicy-trainyard-runtime-snapshots.yaml",
        ("spec", "matchConstraints", "resourceRules", 0, "operations"),
        ["CREATE"],
    ),
    Sin(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicybinding-trainyard-runtime-snapshots.yaml",
        ("spec", "policyName"),
        "other",
    ),
    Sin(
        isolation.namespaces_are_restricted,
        "namespace-team-nlp.yaml",
        ("metadata", "labels", "kueue.openshift.io/managed"),
    ),
    Sin(capacity.quantities_are_canonical, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), "1664000m"),
    Sin(capacity.quantities_are_canonical, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), "1000"),
    Sin(capacity.quantities_are_canonical, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), 8),
    Sin(capacity.quota_is_what_the_profiles_say, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), "1663"),
    Sin(capacity.quota_is_what_the_profiles_say, _QUEUE, (*_RESOURCES, 4)),
    Sin(capacity.quota_is_there, _QUEUE, (*_RESOURCES, 3, "nominalQuota"), "65"),
    Sin(capacity.a_whole_node_pod_fits_a_node, _RUNTIME, (*_CONTAINER, "resources", "requests", "cpu"), "209"),
    Sin(capacity.lending_and_borrowing_are_bounded, _QUEUE, (*_RESOURCES, 0, "borrowingLimit")),
    Sin(capacity.lending_and_borrowing_are_bounded, _QUEUE, (*_RESOURCES, 0, "lendingLimit"), "1665"),
    Sin(delivery.argo_cd_may_write_every_kind, "clusterrole-trainyard-delivery-prod-east.yaml", ("rules", 0)),
    Sin(delivery.nothing_waits_to_be_pruned, "namespace-team-nlp.yaml", _OPTIONS, "Prune=confirm"),
    Sin(delivery.state_is_kept, "teams/nlp/persistentvolumeclaim-scratch.yaml", _OPTIONS),
    Sin(delivery.cluster_queues_come_last_and_alone, _QUEUE, ("metadata", "annotations")),
    Sin(delivery.application_sets_keep_their_applications, _SET, ("spec", "syncPolicy"), {"applicationsSync": "sync"}),
    Sin(delivery.application_sets_keep_their_applications, _SET, ("spec", "preservedFields")),
    Sin(delivery.application_sets_keep_their_applications, _SET, ("spec", "goTemplateOptions")),
    Sin(delivery.projects_are_narrow, _PROJECT, ("metadata", "finalizers")),
    Sin(delivery.projects_are_narrow, _PROJECT, ("spec", "destinations", 0, "namespace"), "*"),
    Sin(delivery.projects_are_narrow, _PROJECT, ("spec", "clusterResourceWhitelist", 0, "name")),
    Sin(
        delivery.applications_stay_in_their_projects, _PROJECT, ("spec", "sourceRepos", 0), "https://other.example.com"
    ),
    Sin(delivery.applications_stay_in_their_projects, _SET, ("spec", "template", "spec", "project"), "default"),
    Sin(delivery.projects_list_exactly_the_kinds_of_their_unit, _PROJECT, ("spec", "namespaceResourceWhitelist", 0)),
    Sin(delivery.every_object_is_listed, "teams/nlp/kustomization.yaml", ("resources", 0)),
    Sin(workloads.no_secret_is_in_git, "configmap-admitted-namespaces.yaml", ("kind",), "Secret"),
    Sin(workloads.no_secret_is_in_git, "configmap-admitted-namespaces.yaml", ("data", "key"), "AKIA0123456789ABCDEF"),
    Sin(workloads.no_secret_is_in_git, "configmap-admitted-namespaces.yaml", ("data", "key"), "aB3" * 14),
    Sin(workloads.jobs_are_not_suspended_by_hand, "trainjob-nlp-deepspeed.yaml", ("spec", "suspend"), True),
    Sin(workloads.containers_are_guaranteed, _RUNTIME, (*_CONTAINER, "resources", "limits", "memory"), "1953Gi"),
    Sin(workloads.containers_are_guaranteed, _RUNTIME, (*_CONTAINER, "resources")),
    Sin(workloads.containers_are_confined, _RUNTIME, (*_CONTAINER, "securityContext", "capabilities")),
    Sin(workloads.containers_are_confined, _RUNTIME, (*_CONTAINER, "image"), "registry.example.com/ml/x:latest"),
    Sin(workloads.no_ids_and_no_host, _RUNTIME, (*_POD, "securityContext", "runAsUser"), 1000),
    Sin(workloads.no_ids_and_no_host, _RUNTIME, (*_POD, "hostNetwork"), True),
    Sin(workloads.pods_have_no_token, _RUNTIME, (*_POD, "automountServiceAccountToken")),
    Sin(workloads.pods_have_no_token, "teams/nlp/serviceaccount-trainer.yaml", ("automountServiceAccountToken",)),
    Sin(workloads.mpi_runtimes_are_what_trainer_expects, _RUNTIME, ("spec", "mlPolicy", "numNodes"), 2),
    Sin(workloads.mpi_runtimes_are_what_trainer_expects, _RUNTIME, (*_REPLICATED, 0, "name"), "worker"),
    Sin(
        workloads.mpi_runtimes_are_what_trainer_expects,
        _RUNTIME,
        (*_REPLICATED, 1, "dependsOn", 0, "status"),
        "Complete",
    ),
    Sin(workloads.mpi_runtimes_are_what_trainer_expects, _RUNTIME, (*_REPLICATED, 1, "template", "metadata")),
    Sin(workloads.mpi_runtimes_are_what_trainer_expects, _RUNTIME, (*_CONTAINER, "readinessProbe")),
    Sin(workloads.mpi_runtimes_are_what_trainer_expects, _RUNTIME, (*_CONTAINER, "name"), "main"),
    Sin(
        workloads.mpi_runtimes_are_what_trainer_expects,
        _RUNTIME,
        (*_REPLICATED, 0, "template", "metadata"),
        {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
    ),
)


def _sinful(tree: Tree, sin: Sin) -> Tree:
    (found,) = (each for each in (*tree.documents, *tree.kustomizations) if f"/{each.path}".endswith(f"/{sin.at}"))
    body = deepcopy(found.body)
    inner: Any = body
    for step in sin.path[:-1]:
        inner = inner[step]
    if sin.value is None:
        del inner[sin.path[-1]]
    else:
        inner[sin.path[-1]] = sin.value

    def swapped(documents: tuple[Document, ...]) -> tuple[Document, ...]:
        return tuple(replace(each, body=body) if each is found else each for each in documents)

    return replace(tree, documents=swapped(tree.documents), kustomizations=swapped(tree.kustomizations))


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.__name__)
@pytest.mark.parametrize("cluster", clusters())
def test_committed_tree_passes(cluster: str, audit: Audit) -> None:
    """Nothing in the committed tree is what the auditor forbids."""
    assert list(audit(load(cluster))) == []


@pytest.mark.parametrize("sin", SINS, ids=lambda sin: f"{sin.audit.__name__}-{sin.path[-1]}")
def test_auditor_finds_a_sin(sin: Sin) -> None:
    """Each audit finds what it is there for."""
    assert list(sin.audit(_sinful(load(FLAGSHIP), sin)))


def test_every_audit_is_proved() -> None:
    """There is a sin for each audit, so none passes because it looks at nothing."""
    assert {sin.audit for sin in SINS} == set(AUDITS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000", "1k"),
        ("1600", "1600"),
        ("26000", "26k"),
        ("1500m", "1500m"),
        ("2000m", "2"),
        ("0", "0"),
        ("1024Gi", "1Ti"),
        ("12000Gi", "12000Gi"),
        ("0.5", "500m"),
    ],
)
def test_canonical_form_is_the_api_servers(text: str, expected: str) -> None:
    """The auditor's own arithmetic agrees with apimachinery's."""
    assert capacity.canonical(text) == expected
