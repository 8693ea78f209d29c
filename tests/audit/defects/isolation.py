"""Defects that the audits of isolation must find."""

from __future__ import annotations

from tests.audit import isolation
from tests.audit.defects.defect import LAB, NETWORK, POOL, QUEUE, VLAN, Defect

_DEFAULT_DENY = "teams/nlp/networkpolicy-default-deny.yaml"
_JOBS = "teams/nlp/networkpolicy-jobs.yaml"
_LIMITS = "validatingadmissionpolicybinding-trainjob-limits-nlp.yaml"
_PSA = ("metadata", "labels")
_OTHER_PARTITION = (
    '{"pkey":"0x0103","rdmaIsolation":true,"ibKubernetesEnabled":true,'
    '"ipam":{"range":"%s","network_name":"x"}}'
)

DEFECTS = (
    Defect(
        isolation.no_team_object_names_another_team,
        "samples/nlp/deepspeed.yaml",
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
        NETWORK,
        ("spec", "config"),
        _OTHER_PARTITION % "10.64.0.0/23",
    ),
    Defect(
        isolation.addresses_are_disjoint,
        NETWORK,
        ("spec", "config"),
        _OTHER_PARTITION % "10.64.32.0/23",
    ),
    Defect(
        isolation.networks_are_in_team_namespaces, NETWORK, ("metadata", "namespace"), "default"
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
        isolation.queues_and_policies_take_one_namespace, QUEUE, ("spec", "namespaceSelector"), {}
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
        "validatingadmissionpolicybinding-own-runtimes-vision.yaml",
        (),
    ),
    Defect(
        isolation.every_team_has_limits,
        "validatingadmissionpolicybinding-copies-of-horovod-v2-dgx-h100.yaml",
        ("spec", "matchResources", "objectSelector"),
        {},
    ),
    Defect(
        isolation.every_team_has_limits,
        "configmap-trainjob-limits-vision.yaml",
        ("data", "ownRuntimes"),
        "4",
    ),
    Defect(
        isolation.every_team_has_limits,
        _LIMITS,
        ("spec", "validationActions"),
        ["Audit"],
    ),
    Defect(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicy-trainyard-sources.yaml",
        ("spec", "matchConstraints", "resourceRules", 0, "operations"),
        ["CREATE"],
    ),
    Defect(
        isolation.only_trainer_writes_what_it_builds_jobs_from,
        "validatingadmissionpolicybinding-trainyard-sources.yaml",
        ("spec", "policyName"),
        "other",
    ),
    Defect(
        isolation.namespaces_are_restricted,
        "namespace-team-nlp.yaml",
        ("metadata", "labels", "kueue.openshift.io/managed"),
    ),
    Defect(isolation.partitions_are_each_teams_own, VLAN, ("spec", "vlan"), 102, LAB),
    Defect(
        isolation.partitions_are_each_teams_own,
        VLAN,
        ("metadata", "name"),
        "team-speech-roce-rail-0",
        LAB,
    ),
    Defect(isolation.addresses_are_disjoint, POOL, ("spec", "subnet"), "10.72.16.0/23", LAB),
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
)
