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
class Sin:
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


SINS = (
    Sin(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("", "pods", "*")),
    Sin(roles.no_wildcards, _ADMIN, ("rules", 0), _rule("*", "pods", "get")),
    Sin(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "secrets", "list")),
    Sin(roles.no_secrets, _ADMIN, ("rules", 0), _rule("", "serviceaccounts/token", "create")),
    Sin(roles.no_way_into_pods, _ADMIN, ("rules", 0), _rule("", "pods/exec", "create")),
    Sin(roles.no_way_into_pods, _ADMIN, ("rules", 0), _rule("", "pods", "create")),
    Sin(roles.no_self_promotion, _ADMIN, ("rules", 0), _rule("", "users", "impersonate")),
    Sin(
        roles.teams_write_nothing_of_the_platform,
        _ADMIN,
        ("rules", 0),
        _rule("", "resourcequotas", "update"),
    ),
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
        isolation.no_team_names_another,
        "samples/trainjob-nlp-deepspeed.yaml",
        ("metadata", "namespace"),
        "team-vision",
    ),
    Sin(
        isolation.no_team_names_another,
        "teams/nlp/externalsecret-checkpoints.yaml",
        ("spec", "dataFrom", 0, "extract", "key"),
        "ml/teams/vision/checkpoints",
    ),
    Sin(
        isolation.partitions_are_each_teams_own,
        _NETWORK,
        ("spec", "config"),
        _EVIL_CNI % "10.64.0.0/23",
    ),
    Sin(
        isolation.addresses_are_disjoint, _NETWORK, ("spec", "config"), _EVIL_CNI % "10.64.32.0/23"
    ),
    Sin(
        isolation.networks_stand_in_teams_namespaces, _NETWORK, ("metadata", "namespace"), "default"
    ),
    Sin(
        isolation.volumes_are_each_teams_own,
        "persistentvolume-prod-east-nlp-home.yaml",
        ("spec", "nfs", "path"),
        "/export/home/vision",
    ),
    Sin(
        isolation.every_team_is_denied_by_default,
        _DEFAULT_DENY,
        ("spec", "egress", 0, "to", 0),
        {"podSelector": {}},
    ),
    Sin(isolation.every_team_is_denied_by_default, _DEFAULT_DENY, ("spec", "ingress")),
    Sin(
        isolation.every_team_is_denied_by_default,
        _DEFAULT_DENY,
        ("spec", "policyTypes"),
        ["Ingress"],
    ),
    Sin(isolation.no_network_path_between_teams, _JOBS, ("spec", "egress", 0), {}),
    Sin(
        isolation.no_network_path_between_teams,
        _JOBS,
        ("spec", "egress", 0, "to", 0),
        {"namespaceSelector": {}},
    ),
    Sin(
        isolation.no_network_path_between_teams,
        _JOBS,
        ("spec", "egress", 0, "to", 0),
        {"ipBlock": {"cidr": "10.128.4.0/24"}},
    ),
    Sin(
        isolation.queues_and_policies_take_one_namespace, _QUEUE, ("spec", "namespaceSelector"), {}
    ),
    Sin(
        isolation.queues_and_policies_take_one_namespace,
        _LIMITS,
        ("spec", "matchResources", "namespaceSelector"),
        {},
    ),
    Sin(isolation.every_team_is_held_to_its_limits, _LIMITS, ("spec", "policyName"), "other"),
    Sin(
        isolation.every_team_is_held_to_its_limits,
        _LIMITS,
        ("spec", "validationActions"),
        ["Audit"],
    ),
    Sin(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicy-trainyard-tenant-objects.yaml",
        ("spec", "matchConstraints", "resourceRules", 0, "operations"),
        ["CREATE"],
    ),
    Sin(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicybinding-trainyard-tenant-objects.yaml",
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
    Sin(
        capacity.a_whole_node_pod_fits_a_node,
        _RUNTIME,
        (*_CONTAINER, "resources", "requests", "cpu"),
        "209",
    ),
    Sin(capacity.lending_and_borrowing_are_bounded, _QUEUE, (*_RESOURCES, 0, "borrowingLimit")),
    Sin(
        capacity.lending_and_borrowing_are_bounded, _QUEUE, (*_RESOURCES, 0, "lendingLimit"), "1665"
    ),
    Sin(
        delivery.argo_cd_may_write_every_kind,
        "clusterrole-trainyard-delivery-prod-east.yaml",
        ("rules", 0),
    ),
    Sin(delivery.nothing_waits_to_be_pruned, "namespace-team-nlp.yaml", _OPTIONS, "Prune=confirm"),
    Sin(delivery.state_is_kept, "teams/nlp/persistentvolumeclaim-scratch.yaml", _OPTIONS),
    Sin(delivery.cluster_queues_come_last_and_alone, _QUEUE, ("metadata", "annotations")),
    Sin(delivery.nodes_are_set_up_by_hand_and_apart, _PORT, ("metadata", "annotations")),
    Sin(delivery.nodes_are_set_up_by_hand_and_apart, _PORT, ("kind",), "ConfigMap"),
    Sin(
        delivery.nodes_are_set_up_by_hand_and_apart,
        "application-prod-east-nodes.yaml",
        ("spec", "syncPolicy", "automated"),
        {"selfHeal": True},
    ),
    Sin(
        delivery.operators_objects_come_before_the_kinds_that_they_bring,
        "kueue-cluster.yaml",
        ("metadata", "annotations"),
        {},
    ),
    Sin(
        delivery.operators_objects_come_before_the_kinds_that_they_bring,
        "application-prod-east-platform.yaml",
        ("spec", "syncPolicy", "syncOptions", 3),
    ),
    Sin(
        delivery.application_sets_keep_their_applications,
        _SET,
        ("spec", "syncPolicy"),
        {"applicationsSync": "sync"},
    ),
    Sin(delivery.application_sets_keep_their_applications, _SET, ("spec", "preservedFields")),
    Sin(delivery.application_sets_keep_their_applications, _SET, ("spec", "goTemplateOptions")),
    Sin(delivery.projects_are_narrow, _PROJECT, ("metadata", "finalizers")),
    Sin(delivery.projects_are_narrow, _PROJECT, ("spec", "destinations", 0, "namespace"), "*"),
    Sin(delivery.projects_are_narrow, _PROJECT, ("spec", "clusterResourceWhitelist", 0, "name")),
    Sin(
        delivery.applications_stay_in_their_projects,
        _PROJECT,
        ("spec", "sourceRepos", 0),
        "https://other.example.com",
    ),
    Sin(
        delivery.applications_stay_in_their_projects,
        _SET,
        ("spec", "template", "spec", "project"),
        "default",
    ),
    Sin(
        delivery.projects_list_the_kinds_of_their_unit,
        _PROJECT,
        ("spec", "namespaceResourceWhitelist", 1),
    ),
    Sin(
        delivery.projects_list_the_kinds_of_their_unit,
        _PROJECT,
        ("spec", "namespaceResourceWhitelist", 1, "kind"),
        "Secret",
    ),
    Sin(delivery.every_object_is_listed, "teams/nlp/kustomization.yaml", ("resources", 0)),
    Sin(workloads.no_secret_is_in_git, "configmap-admitted-namespaces.yaml", ("kind",), "Secret"),
    Sin(
        workloads.no_secret_is_in_git,
        "configmap-admitted-namespaces.yaml",
        ("data", "key"),
        "AKIA0123456789ABCDEF",
    ),
    Sin(
        workloads.no_secret_is_in_git,
        "configmap-admitted-namespaces.yaml",
        ("data", "key"),
        "aB3" * 14,
    ),
    Sin(
        workloads.jobs_are_not_suspended_by_hand,
        "trainjob-nlp-deepspeed.yaml",
        ("spec", "suspend"),
        True,
    ),
    Sin(
        workloads.containers_are_guaranteed,
        _RUNTIME,
        (*_CONTAINER, "resources", "limits", "memory"),
        "1953Gi",
    ),
    Sin(workloads.containers_are_guaranteed, _RUNTIME, (*_CONTAINER, "resources")),
    Sin(
        workloads.containers_are_confined,
        _RUNTIME,
        (*_CONTAINER, "securityContext", "capabilities"),
    ),
    Sin(
        workloads.containers_are_confined,
        _RUNTIME,
        (*_CONTAINER, "image"),
        "registry.example.com/ml/x:latest",
    ),
    Sin(workloads.no_ids_and_no_host, _RUNTIME, (*_POD, "securityContext", "runAsUser"), 1000),
    Sin(workloads.no_ids_and_no_host, _RUNTIME, (*_POD, "hostNetwork"), True),
    Sin(workloads.pods_have_no_token, _RUNTIME, (*_POD, "automountServiceAccountToken")),
    Sin(
        workloads.pods_have_no_token,
        "teams/nlp/serviceaccount-trainer.yaml",
        ("automountServiceAccountToken",),
    ),
    Sin(
        workloads.mpi_runtimes_are_what_trainer_expects,
        _RUNTIME,
        ("spec", "mlPolicy", "numNodes"),
        2,
    ),
    Sin(
        workloads.mpi_runtimes_are_what_trainer_expects,
        _RUNTIME,
        (*_REPLICATED, 0, "name"),
        "worker",
    ),
    Sin(
        workloads.mpi_runtimes_are_what_trainer_expects,
        _RUNTIME,
        (*_REPLICATED, 1, "dependsOn", 0, "status"),
        "Complete",
    ),
    Sin(
        workloads.mpi_runtimes_are_what_trainer_expects,
        _RUNTIME,
        (*_REPLICATED, 1, "template", "metadata"),
    ),
    Sin(workloads.mpi_runtimes_are_what_trainer_expects, _RUNTIME, (*_CONTAINER, "readinessProbe")),
    Sin(workloads.mpi_runtimes_are_what_trainer_expects, _RUNTIME, (*_CONTAINER, "name"), "main"),
    Sin(
        workloads.mpi_runtimes_are_what_trainer_expects,
        _RUNTIME,
        (*_REPLICATED, 0, "template", "metadata"),
        {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
    ),
    Sin(isolation.partitions_are_each_teams_own, _VLAN, ("spec", "vlan"), 102, LAB),
    Sin(
        isolation.partitions_are_each_teams_own,
        _VLAN,
        ("metadata", "name"),
        "team-speech-roce-rail-0",
        LAB,
    ),
    Sin(isolation.addresses_are_disjoint, _POOL, ("spec", "subnet"), "10.72.16.0/23", LAB),
    Sin(
        isolation.namespaces_are_restricted,
        "namespace-team-medical.yaml",
        (*_PSA, "pod-security.kubernetes.io/enforce"),
        "baseline",
        LAB,
    ),
    Sin(
        isolation.namespaces_are_restricted,
        "namespace-team-medical.yaml",
        (*_PSA, "ml.example.com/team"),
        None,
        LAB,
    ),
    Sin(workloads.kubelet_replaces_nothing, _RUNTIME, (*_CONTAINER, "command", 2), "kill $$"),
    Sin(workloads.kubelet_replaces_nothing, _RUNTIME, (*_CONTAINER, "command", 2), "echo $(HOME)"),
    Sin(
        workloads.every_namespace_has_defaults,
        _DEFAULTS,
        ("spec", "limits", 0, "max"),
        {"cpu": "8"},
        LAB,
    ),
    Sin(
        workloads.every_namespace_has_defaults,
        _DEFAULTS,
        ("metadata", "namespace"),
        "team-speech",
        LAB,
    ),
    Sin(
        workloads.every_namespace_has_defaults,
        "teams/speech/resourcequota-object-counts.yaml",
        ("spec", "hard", "requests.cpu"),
        "8",
        LAB,
    ),
    Sin(compliance.regulated_nodes_are_nobody_elses, _SCIENCE, (*_FLAVOR, "name"), "cpu-phi", LAB),
    Sin(
        compliance.regulated_nodes_are_nobody_elses,
        _MEDICAL,
        ("spec", "cohortName"),
        "research",
        LAB,
    ),
    Sin(
        compliance.regulated_data_is_on_encrypted_storage,
        _RECORDS,
        ("spec", "storageClassName"),
        "lustre",
        LAB,
    ),
    Sin(
        compliance.regulated_namespaces_are_recorded,
        "audit-policy.yaml",
        ("rules", 1, "namespaces"),
        ["team-speech"],
        LAB,
    ),
    Sin(
        compliance.the_log_has_what_matters_and_no_heartbeats,
        "audit-policy.yaml",
        ("rules", 3),
        cluster=LAB,
    ),
    Sin(
        compliance.the_log_has_what_matters_and_no_heartbeats,
        "audit-policy.yaml",
        ("rules", 6, "level"),
        "Metadata",
        LAB,
    ),
    Sin(
        compliance.regulated_nodes_are_in_fips_mode,
        "clustertrainingruntime-intel-mpi-v1-cpu-epyc-phi.yaml",
        (*_CONTAINER, "env"),
        [],
        LAB,
    ),
    Sin(compliance.evidence_is_there, "persistentvolumeclaim-records.yaml", (), cluster=LAB),
    Sin(compliance.regulated_namespaces_are_recorded, "audit-policy.yaml", (), cluster=LAB),
    Sin(fabric.operators_find_their_objects, _POOL, ("metadata", "namespace"), "team-nlp", LAB),
    Sin(
        fabric.operators_find_their_objects,
        _PORT,
        ("metadata", "namespace"),
        "nvidia-network-operator",
    ),
    Sin(
        fabric.rails_are_made_as_the_hardware_is,
        _PORT,
        ("spec", "nicSelector", "rootDevices"),
        ["0000:29:00.0"],
    ),
    Sin(fabric.rails_are_made_as_the_hardware_is, _PORT, ("spec", "linkType"), "eth"),
    Sin(fabric.rails_are_made_as_the_hardware_is, _PORT, ("spec", "numVfs"), 16),
    Sin(fabric.vlans_hold, _VLAN, ("spec", "spoofChk"), "off", LAB),
    Sin(fabric.vlans_hold, _VLAN, ("spec", "trust"), "on", LAB),
    Sin(fabric.vlans_hold, _VLAN, ("spec", "vlan"), 0, LAB),
    Sin(fabric.vlans_hold, _VLAN, ("spec", "metaPlugins"), None, LAB),
    Sin(fabric.vlans_hold, "sriovnetworkpoolconfig-dgx-h100.yaml", ("spec", "rdmaMode"), "shared"),
    Sin(fabric.every_function_gets_an_address, _POOL, ("spec", "perNodeBlockSize"), 7, LAB),
    Sin(fabric.every_function_gets_an_address, _POOL, ("spec", "subnet"), "10.72.0.0/27", LAB),
    Sin(fabric.every_function_gets_an_address, _POOL, ("metadata", "name"), "nlp-roce", LAB),
    Sin(placement.the_largest_job_fits_its_queue, _QUEUE, (*_RESOURCES, 3, "nominalQuota"), "63"),
    Sin(placement.the_largest_job_fits_its_queue, _QUEUE, (*_RESOURCES, 4)),
    Sin(placement.queues_cover_what_they_list, _QUEUE, (*_RESOURCES, 4)),
    Sin(placement.queues_cover_what_they_list, _QUEUE, (*_FLAVOR, "name"), "other"),
    Sin(
        placement.pods_attach_to_networks_of_their_namespace,
        _NETWORK,
        ("metadata", "name"),
        "ib-rail-9",
    ),
    Sin(
        placement.pods_attach_to_networks_of_their_namespace,
        _NETWORK,
        ("metadata", "annotations"),
        {},
    ),
    Sin(placement.pods_attach_to_networks_of_their_namespace, _VLAN, (), cluster=LAB),
    Sin(
        placement.functions_are_made_where_pods_run,
        "sriovnetworknodepolicy-xe9680-h200-rail-7.yaml",
        (),
        cluster=LAB,
    ),
    Sin(fabric.every_function_gets_an_address, _POOL, (), cluster=LAB),
    Sin(
        placement.pods_attach_to_networks_of_their_namespace,
        _VLAN,
        ("spec", "networkNamespace"),
        "team-speech",
        LAB,
    ),
    Sin(
        placement.pods_attach_to_networks_of_their_namespace,
        "clustertrainingruntime-openmpi-cuda-v3-xe9680-h200-nlp.yaml",
        (*_REPLICATED, 1, "template", "spec", "template", "metadata", "annotations"),
        {},
        LAB,
    ),
    Sin(placement.functions_are_made_where_pods_run, _PORT, ("spec", "resourceName"), "ib_rail_9"),
    Sin(
        placement.functions_are_made_where_pods_run,
        _PORT,
        ("spec", "nodeSelector"),
        {"other": "node"},
    ),
    Sin(placement.functions_are_made_where_pods_run, _PORT, ("spec", "isRdma"), False),
    Sin(
        placement.flavors_lead_to_their_nodes,
        "resourceflavor-cpu-phi.yaml",
        ("spec", "tolerations"),
        [],
        LAB,
    ),
    Sin(
        placement.flavors_lead_to_their_nodes,
        "resourceflavor-cpu-phi.yaml",
        ("spec", "nodeLabels"),
        {},
        LAB,
    ),
    Sin(
        placement.flavors_lead_to_their_nodes,
        "resourceflavor-dgx-h100.yaml",
        ("spec", "topologyName"),
        "other",
    ),
    Sin(placement.flavors_lead_to_their_nodes, "topology-ib.yaml", ("spec", "levels", 0)),
    Sin(
        placement.pods_are_placed_together,
        _GROUPED,
        (*_NODE, _KUEUE % "podset-group-name"),
        "other",
        LAB,
    ),
    Sin(
        placement.pods_are_placed_together,
        _GROUPED,
        (*_NODE, _KUEUE % "pod-index-offset"),
        "0",
        LAB,
    ),
    Sin(
        placement.pods_are_placed_together,
        _GROUPED,
        (*_NODE, _KUEUE % "podset-preferred-topology"),
        "rack",
        LAB,
    ),
    Sin(
        placement.pods_are_placed_together, _RUNTIME, (*_NODE, _KUEUE % "podset-group-name"), "job"
    ),
    Sin(placement.jobs_to_copy_can_be_submitted, _JOB, ("spec", "trainer", "numNodes"), 1),
    Sin(
        placement.jobs_to_copy_can_be_submitted,
        _JOB,
        ("spec", "runtimeRef", "name"),
        "grpo-v2-dgx-h100",
    ),
    Sin(
        placement.jobs_to_copy_can_be_submitted,
        _JOB,
        ("metadata", "labels", _KUEUE % "queue-name"),
        "cpu",
    ),
    Sin(
        placement.jobs_to_copy_can_be_submitted,
        _JOB,
        ("spec", "trainer", "command"),
        ["/opt/trainyard/mpirun"],
    ),
)
