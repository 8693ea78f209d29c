"""What each audit must find: a change of one object of the committed tree, as a mistake or
somebody's hand makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.audit import (
    capacity,
    compliance,
    delivery,
    fabric,
    isolation,
    placement,
    roles,
    workloads,
)
from tests.audit.tree import Tree

Audit = Callable[[Tree], Iterator[str]]
FLAGSHIP, LAB = "prod-east", "lab"


@dataclass(frozen=True)
class Defect:
    """A change to one object that an audit must find.

    Args:
        at: file, or its end.
        path: keys and indexes to what is changed; the whole object goes when empty.
        value: what stands there then; None takes it away.
        cluster: whose tree it is in.
    """

    audit: Audit
    at: str
    path: tuple[str | int, ...]
    value: Any = None
    cluster: str = FLAGSHIP


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
_FLAVOR = _RESOURCES[:-1]
_PSA = ("metadata", "labels")
_VLAN, _POOL = "sriovnetwork-team-nlp-roce-rail-0.yaml", "ippool-nlp-roce-rail-0.yaml"
_PORT = "sriovnetworknodepolicy-dgx-h100-rail-0.yaml"
_DEFAULTS, _RECORDS = (
    "teams/medical/limitrange-defaults.yaml",
    "teams/medical/persistentvolumeclaim-records.yaml",
)
_SCIENCE, _MEDICAL = "clusterqueue-science-cpu.yaml", "clusterqueue-medical-cpu.yaml"
_GROUPED = "clustertrainingruntime-openmpi-cuda-v3-xe9680-h200-nlp.yaml"
_NODE = (*_REPLICATED, 0, "template", "spec", "template", "metadata", "annotations")
_KUEUE = "kueue.x-k8s.io/%s"
_JOB = "samples/trainjob-nlp-deepspeed.yaml"
_EVIL_CNI = '{"pkey":"0x0103","rdmaIsolation":true,"ibKubernetesEnabled":true,"ipam":{"range":"%s","network_name":"x"}}'


def _rule(group: str, resource: str, *verbs: str) -> dict[str, list[str]]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


DEFECTS = (
    Defect(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("", "pods", "*")),
    Defect(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("*", "pods", "get")),
    Defect(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "secrets", "list")),
    Defect(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "serviceaccounts/token", "create")),
    Defect(roles.no_access_into_pods, _ADMIN, ("rules", 0), _rule("", "pods/exec", "create")),
    Defect(roles.no_access_into_pods, _ADMIN, ("rules", 0), _rule("", "pods", "create")),
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
    Defect(
        isolation.no_team_object_names_another_team,
        "samples/trainjob-nlp-deepspeed.yaml",
        ("metadata", "namespace"),
        "team-vision",
    ),
    Defect(
        isolation.no_team_object_names_another_team,
        "teams/nlp/externalsecret-checkpoints.yaml",
        ("spec", "dataFrom", 0, "extract", "key"),
        "ml/teams/vision/checkpoints",
    ),
    Defect(
        isolation.partitions_are_each_teams_own,
        _NETWORK,
        ("spec", "config"),
        _EVIL_CNI % "10.64.0.0/23",
    ),
    Defect(
        isolation.addresses_are_disjoint, _NETWORK, ("spec", "config"), _EVIL_CNI % "10.64.32.0/23"
    ),
    Defect(
        isolation.networks_are_in_team_namespaces, _NETWORK, ("metadata", "namespace"), "default"
    ),
    Defect(
        isolation.volumes_are_each_teams_own,
        "persistentvolume-prod-east-nlp-home.yaml",
        ("spec", "nfs", "path"),
        "/export/home/vision",
    ),
    Defect(
        isolation.every_team_is_denied_by_default,
        _DEFAULT_DENY,
        ("spec", "egress", 0, "to", 0),
        {"podSelector": {}},
    ),
    Defect(isolation.every_team_is_denied_by_default, _DEFAULT_DENY, ("spec", "ingress")),
    Defect(
        isolation.every_team_is_denied_by_default,
        _DEFAULT_DENY,
        ("spec", "policyTypes"),
        ["Ingress"],
    ),
    Defect(isolation.no_network_path_between_teams, _JOBS, ("spec", "egress", 0), {}),
    Defect(
        isolation.no_network_path_between_teams,
        _JOBS,
        ("spec", "egress", 0, "to", 0),
        {"namespaceSelector": {}},
    ),
    Defect(
        isolation.no_network_path_between_teams,
        _JOBS,
        ("spec", "egress", 0, "to", 0),
        {"ipBlock": {"cidr": "10.128.4.0/24"}},
    ),
    Defect(
        isolation.queues_and_policies_take_one_namespace, _QUEUE, ("spec", "namespaceSelector"), {}
    ),
    Defect(
        isolation.queues_and_policies_take_one_namespace,
        _LIMITS,
        ("spec", "matchResources", "namespaceSelector"),
        {},
    ),
    Defect(isolation.every_team_has_limits, _LIMITS, ("spec", "policyName"), "other"),
    Defect(
        isolation.every_team_has_limits,
        _LIMITS,
        ("spec", "validationActions"),
        ["Audit"],
    ),
    Defect(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicy-trainyard-tenant-objects.yaml",
        ("spec", "matchConstraints", "resourceRules", 0, "operations"),
        ["CREATE"],
    ),
    Defect(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicybinding-trainyard-tenant-objects.yaml",
        ("spec", "policyName"),
        "other",
    ),
    Defect(
        isolation.namespaces_are_restricted,
        "namespace-team-nlp.yaml",
        ("metadata", "labels", "kueue.openshift.io/managed"),
    ),
    Defect(capacity.quantities_are_canonical, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), "1664000m"),
    Defect(capacity.quantities_are_canonical, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), "1000"),
    Defect(capacity.quantities_are_canonical, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), 8),
    Defect(capacity.quota_follows_the_profiles, _QUEUE, (*_RESOURCES, 0, "nominalQuota"), "1663"),
    Defect(capacity.quota_follows_the_profiles, _QUEUE, (*_RESOURCES, 4)),
    Defect(capacity.quota_fits_the_nodes, _QUEUE, (*_RESOURCES, 3, "nominalQuota"), "65"),
    Defect(
        capacity.a_whole_node_pod_fits_a_node,
        _RUNTIME,
        (*_CONTAINER, "resources", "requests", "cpu"),
        "209",
    ),
    Defect(capacity.lending_and_borrowing_are_bounded, _QUEUE, (*_RESOURCES, 0, "borrowingLimit")),
    Defect(
        capacity.lending_and_borrowing_are_bounded, _QUEUE, (*_RESOURCES, 0, "lendingLimit"), "1665"
    ),
    Defect(
        delivery.argo_cd_may_write_every_kind,
        "clusterrole-trainyard-delivery-prod-east.yaml",
        ("rules", 0),
    ),
    Defect(
        delivery.no_prune_needs_confirmation, "namespace-team-nlp.yaml", _OPTIONS, "Prune=confirm"
    ),
    Defect(delivery.state_is_kept, "teams/nlp/persistentvolumeclaim-scratch.yaml", _OPTIONS),
    Defect(delivery.cluster_queues_are_in_the_last_wave, _QUEUE, ("metadata", "annotations")),
    Defect(delivery.node_objects_are_synced_by_hand, _PORT, ("metadata", "annotations")),
    Defect(delivery.node_objects_are_synced_by_hand, _PORT, ("kind",), "ConfigMap"),
    Defect(
        delivery.node_objects_are_synced_by_hand,
        "application-prod-east-nodes.yaml",
        ("spec", "syncPolicy", "automated"),
        {"selfHeal": True},
    ),
    Defect(
        delivery.operators_are_synced_before_their_kinds,
        "kueue-cluster.yaml",
        ("metadata", "annotations"),
        {},
    ),
    Defect(
        delivery.operators_are_synced_before_their_kinds,
        "application-prod-east-platform.yaml",
        ("spec", "syncPolicy", "syncOptions", 3),
    ),
    Defect(
        delivery.application_sets_keep_their_applications,
        _SET,
        ("spec", "syncPolicy"),
        {"applicationsSync": "sync"},
    ),
    Defect(delivery.application_sets_keep_their_applications, _SET, ("spec", "preservedFields")),
    Defect(delivery.application_sets_keep_their_applications, _SET, ("spec", "goTemplateOptions")),
    Defect(delivery.projects_are_narrow, _PROJECT, ("metadata", "finalizers")),
    Defect(delivery.projects_are_narrow, _PROJECT, ("spec", "destinations", 0, "namespace"), "*"),
    Defect(delivery.projects_are_narrow, _PROJECT, ("spec", "clusterResourceWhitelist", 0, "name")),
    Defect(
        delivery.applications_stay_in_their_projects,
        _PROJECT,
        ("spec", "sourceRepos", 0),
        "https://other.example.com",
    ),
    Defect(
        delivery.applications_stay_in_their_projects,
        _SET,
        ("spec", "template", "spec", "project"),
        "default",
    ),
    Defect(
        delivery.projects_list_the_kinds_of_their_unit,
        _PROJECT,
        ("spec", "namespaceResourceWhitelist", 1),
    ),
    Defect(
        delivery.projects_list_the_kinds_of_their_unit,
        _PROJECT,
        ("spec", "namespaceResourceWhitelist", 1, "kind"),
        "Secret",
    ),
    Defect(delivery.every_object_is_listed, "teams/nlp/kustomization.yaml", ("resources", 0)),
    Defect(
        workloads.no_secret_is_in_git, "configmap-admitted-namespaces.yaml", ("kind",), "Secret"
    ),
    Defect(
        workloads.no_secret_is_in_git,
        "configmap-admitted-namespaces.yaml",
        ("data", "key"),
        "AKIA0123456789ABCDEF",
    ),
    Defect(
        workloads.no_secret_is_in_git,
        "configmap-admitted-namespaces.yaml",
        ("data", "key"),
        "aB3" * 14,
    ),
    Defect(
        workloads.jobs_are_not_suspended_by_hand,
        "trainjob-nlp-deepspeed.yaml",
        ("spec", "suspend"),
        True,
    ),
    Defect(
        workloads.containers_are_guaranteed,
        _RUNTIME,
        (*_CONTAINER, "resources", "limits", "memory"),
        "1953Gi",
    ),
    Defect(workloads.containers_are_guaranteed, _RUNTIME, (*_CONTAINER, "resources")),
    Defect(
        workloads.containers_are_confined,
        _RUNTIME,
        (*_CONTAINER, "securityContext", "capabilities"),
    ),
    Defect(
        workloads.containers_are_confined,
        _RUNTIME,
        (*_CONTAINER, "image"),
        "registry.example.com/ml/x:latest",
    ),
    Defect(workloads.no_ids_and_no_host, _RUNTIME, (*_POD, "securityContext", "runAsUser"), 1000),
    Defect(workloads.no_ids_and_no_host, _RUNTIME, (*_POD, "hostNetwork"), True),
    Defect(workloads.pods_have_no_token, _RUNTIME, (*_POD, "automountServiceAccountToken")),
    Defect(
        workloads.pods_have_no_token,
        "teams/nlp/serviceaccount-trainer.yaml",
        ("automountServiceAccountToken",),
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        _RUNTIME,
        ("spec", "mlPolicy", "numNodes"),
        2,
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        _RUNTIME,
        (*_REPLICATED, 0, "name"),
        "worker",
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        _RUNTIME,
        (*_REPLICATED, 1, "dependsOn", 0, "status"),
        "Complete",
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        _RUNTIME,
        (*_REPLICATED, 1, "template", "metadata"),
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer, _RUNTIME, (*_CONTAINER, "readinessProbe")
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer, _RUNTIME, (*_CONTAINER, "name"), "main"
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        _RUNTIME,
        (*_REPLICATED, 0, "template", "metadata"),
        {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
    ),
    Defect(isolation.partitions_are_each_teams_own, _VLAN, ("spec", "vlan"), 102, LAB),
    Defect(
        isolation.partitions_are_each_teams_own,
        _VLAN,
        ("metadata", "name"),
        "team-speech-roce-rail-0",
        LAB,
    ),
    Defect(isolation.addresses_are_disjoint, _POOL, ("spec", "subnet"), "10.72.16.0/23", LAB),
    Defect(
        isolation.namespaces_are_restricted,
        "namespace-team-medical.yaml",
        (*_PSA, "pod-security.kubernetes.io/enforce"),
        "baseline",
        LAB,
    ),
    Defect(
        isolation.namespaces_are_restricted,
        "namespace-team-medical.yaml",
        (*_PSA, "ml.example.com/team"),
        None,
        LAB,
    ),
    Defect(workloads.kubelet_replaces_nothing, _RUNTIME, (*_CONTAINER, "command", 2), "kill $$"),
    Defect(
        workloads.kubelet_replaces_nothing, _RUNTIME, (*_CONTAINER, "command", 2), "echo $(HOME)"
    ),
    Defect(
        workloads.every_namespace_has_defaults,
        _DEFAULTS,
        ("spec", "limits", 0, "max"),
        {"cpu": "8"},
        LAB,
    ),
    Defect(
        workloads.every_namespace_has_defaults,
        _DEFAULTS,
        ("metadata", "namespace"),
        "team-speech",
        LAB,
    ),
    Defect(
        workloads.every_namespace_has_defaults,
        "teams/speech/resourcequota-object-counts.yaml",
        ("spec", "hard", "requests.cpu"),
        "8",
        LAB,
    ),
    Defect(compliance.regulated_nodes_are_dedicated, _SCIENCE, (*_FLAVOR, "name"), "cpu-phi", LAB),
    Defect(
        compliance.regulated_nodes_are_dedicated,
        _MEDICAL,
        ("spec", "cohortName"),
        "research",
        LAB,
    ),
    Defect(
        compliance.regulated_data_is_on_encrypted_storage,
        _RECORDS,
        ("spec", "storageClassName"),
        "lustre",
        LAB,
    ),
    Defect(
        compliance.regulated_namespaces_are_logged,
        "audit-policy.yaml",
        ("rules", 1, "namespaces"),
        ["team-speech"],
        LAB,
    ),
    Defect(
        compliance.requests_are_logged_at_their_level,
        "audit-policy.yaml",
        ("rules", 3),
        cluster=LAB,
    ),
    Defect(
        compliance.requests_are_logged_at_their_level,
        "audit-policy.yaml",
        ("rules", 6, "level"),
        "Metadata",
        LAB,
    ),
    Defect(
        compliance.regulated_nodes_are_in_fips_mode,
        "clustertrainingruntime-intel-mpi-v1-cpu-epyc-phi.yaml",
        (*_CONTAINER, "env"),
        [],
        LAB,
    ),
    Defect(compliance.evidence_is_there, "persistentvolumeclaim-records.yaml", (), cluster=LAB),
    Defect(compliance.regulated_namespaces_are_logged, "audit-policy.yaml", (), cluster=LAB),
    Defect(fabric.operators_find_their_objects, _POOL, ("metadata", "namespace"), "team-nlp", LAB),
    Defect(
        fabric.operators_find_their_objects,
        _PORT,
        ("metadata", "namespace"),
        "nvidia-network-operator",
    ),
    Defect(
        fabric.rails_follow_the_hardware,
        _PORT,
        ("spec", "nicSelector", "rootDevices"),
        ["0000:29:00.0"],
    ),
    Defect(fabric.rails_follow_the_hardware, _PORT, ("spec", "linkType"), "eth"),
    Defect(fabric.rails_follow_the_hardware, _PORT, ("spec", "numVfs"), 16),
    Defect(fabric.vlans_are_enforced, _VLAN, ("spec", "spoofChk"), "off", LAB),
    Defect(fabric.vlans_are_enforced, _VLAN, ("spec", "trust"), "on", LAB),
    Defect(fabric.vlans_are_enforced, _VLAN, ("spec", "vlan"), 0, LAB),
    Defect(fabric.vlans_are_enforced, _VLAN, ("spec", "metaPlugins"), None, LAB),
    Defect(
        fabric.vlans_are_enforced,
        "sriovnetworkpoolconfig-dgx-h100.yaml",
        ("spec", "rdmaMode"),
        "shared",
    ),
    Defect(fabric.every_function_gets_an_address, _POOL, ("spec", "perNodeBlockSize"), 7, LAB),
    Defect(fabric.every_function_gets_an_address, _POOL, ("spec", "subnet"), "10.72.0.0/27", LAB),
    Defect(fabric.every_function_gets_an_address, _POOL, ("metadata", "name"), "nlp-roce", LAB),
    Defect(
        placement.the_largest_job_fits_its_queue, _QUEUE, (*_RESOURCES, 3, "nominalQuota"), "63"
    ),
    Defect(placement.the_largest_job_fits_its_queue, _QUEUE, (*_RESOURCES, 4)),
    Defect(placement.queues_cover_what_they_list, _QUEUE, (*_RESOURCES, 4)),
    Defect(placement.queues_cover_what_they_list, _QUEUE, (*_FLAVOR, "name"), "other"),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        _NETWORK,
        ("metadata", "name"),
        "ib-rail-9",
    ),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        _NETWORK,
        ("metadata", "annotations"),
        {},
    ),
    Defect(placement.pods_attach_to_networks_of_their_namespace, _VLAN, (), cluster=LAB),
    Defect(
        placement.functions_exist_where_pods_run,
        "sriovnetworknodepolicy-xe9680-h200-rail-7.yaml",
        (),
        cluster=LAB,
    ),
    Defect(fabric.every_function_gets_an_address, _POOL, (), cluster=LAB),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        _VLAN,
        ("spec", "networkNamespace"),
        "team-speech",
        LAB,
    ),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        "clustertrainingruntime-openmpi-cuda-v3-xe9680-h200-nlp.yaml",
        (*_REPLICATED, 1, "template", "spec", "template", "metadata", "annotations"),
        {},
        LAB,
    ),
    Defect(placement.functions_exist_where_pods_run, _PORT, ("spec", "resourceName"), "ib_rail_9"),
    Defect(
        placement.functions_exist_where_pods_run,
        _PORT,
        ("spec", "nodeSelector"),
        {"other": "node"},
    ),
    Defect(placement.functions_exist_where_pods_run, _PORT, ("spec", "isRdma"), False),
    Defect(
        placement.flavors_select_their_nodes,
        "resourceflavor-cpu-phi.yaml",
        ("spec", "tolerations"),
        [],
        LAB,
    ),
    Defect(
        placement.flavors_select_their_nodes,
        "resourceflavor-cpu-phi.yaml",
        ("spec", "nodeLabels"),
        {},
        LAB,
    ),
    Defect(
        placement.flavors_select_their_nodes,
        "resourceflavor-dgx-h100.yaml",
        ("spec", "topologyName"),
        "other",
    ),
    Defect(placement.flavors_select_their_nodes, "topology-ib.yaml", ("spec", "levels", 0)),
    Defect(
        placement.pods_are_grouped_by_topology,
        _GROUPED,
        (*_NODE, _KUEUE % "podset-group-name"),
        "other",
        LAB,
    ),
    Defect(
        placement.pods_are_grouped_by_topology,
        _GROUPED,
        (*_NODE, _KUEUE % "pod-index-offset"),
        "0",
        LAB,
    ),
    Defect(
        placement.pods_are_grouped_by_topology,
        _GROUPED,
        (*_NODE, _KUEUE % "podset-preferred-topology"),
        "rack",
        LAB,
    ),
    Defect(
        placement.pods_are_grouped_by_topology,
        _RUNTIME,
        (*_NODE, _KUEUE % "podset-group-name"),
        "job",
    ),
    Defect(placement.sample_jobs_can_be_submitted, _JOB, ("spec", "trainer", "numNodes"), 1),
    Defect(
        placement.sample_jobs_can_be_submitted,
        _JOB,
        ("spec", "runtimeRef", "name"),
        "grpo-v2-dgx-h100",
    ),
    Defect(
        placement.sample_jobs_can_be_submitted,
        _JOB,
        ("metadata", "labels", _KUEUE % "queue-name"),
        "cpu",
    ),
    Defect(
        placement.sample_jobs_can_be_submitted,
        _JOB,
        ("spec", "trainer", "command"),
        ["/opt/trainyard/mpirun"],
    ),
)
