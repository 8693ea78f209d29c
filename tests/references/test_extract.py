from __future__ import annotations

from typing import Any

import pytest

from trainyard.references.extract import uses
from trainyard.references.names import Scope

_POD = {
    "metadata": {
        "annotations": {
            "k8s.v1.cni.cncf.io/networks": "rail-0, other/rail-1@net1",
            "kueue.x-k8s.io/podset-required-topology": "leaf",
            "openshift.io/required-scc": "restricted-v2",
        }
    },
    "spec": {
        "serviceAccountName": "trainer",
        "imagePullSecrets": [{"name": "pull"}],
        "initContainers": [
            {
                "env": [
                    {"name": "D", "valueFrom": {"secretKeyRef": {"name": "first", "key": "k"}}}
                ],
                "resources": {"requests": {"openshift.io/rail_1": "1"}},
            }
        ],
        "volumes": [
            {"configMap": {"name": "config"}},
            {"secret": {"secretName": "s3"}},
            {"persistentVolumeClaim": {"claimName": "home"}},
            {"emptyDir": {}},
        ],
        "containers": [
            {
                "env": [
                    {"name": "A", "value": "1"},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "token", "key": "k"}}},
                    {
                        "name": "C",
                        "valueFrom": {"configMapKeyRef": {"name": "options", "key": "k"}},
                    },
                ],
                "resources": {
                    "requests": {"cpu": "1", "nvidia.com/gpu": "1", "openshift.io/rail_0": "1"}
                },
            }
        ],
    },
}


def _pod_uses(namespace: str) -> set[tuple[str, str, str]]:
    return {
        ("ConfigMap", namespace, "config"),
        ("ConfigMap", namespace, "options"),
        ("NetworkAttachmentDefinition", "other", "rail-1"),
        ("NetworkAttachmentDefinition", namespace, "rail-0"),
        ("PersistentVolumeClaim", namespace, "home"),
        ("Secret", namespace, "first"),
        ("Secret", namespace, "pull"),
        ("Secret", namespace, "s3"),
        ("Secret", namespace, "token"),
        ("SecurityContextConstraints", "", "restricted-v2"),
        ("ServiceAccount", namespace, "trainer"),
        ("SR-IOV resource", "", "openshift.io/rail_0"),
        ("SR-IOV resource", "", "openshift.io/rail_1"),
        ("topology level", "", "leaf"),
    }


_RUNTIME = {
    "spec": {"template": {"spec": {"replicatedJobs": [{"template": {"spec": {"template": _POD}}}]}}}
}
_BY_NAME = {"matchLabels": {"kubernetes.io/metadata.name": "a", "team": "x"}}
_BY_EXPRESSION = {
    "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["b", "c"]},
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["d"]},
        {"key": "team", "operator": "In", "values": ["e"]},
    ]
}
CASES: list[tuple[str, dict[str, Any], set[tuple[str, str, str]]]] = [
    (
        "ClusterQueue",
        {
            "spec": {
                "cohortName": "research",
                "namespaceSelector": _BY_EXPRESSION,
                "resourceGroups": [
                    {"flavors": [{"name": "x"}, {"name": "y"}]},
                    {"flavors": [{"name": "z"}]},
                ],
            }
        },
        {
            ("Cohort", "", "research"),
            ("Namespace", "", "b"),
            ("Namespace", "", "c"),
            *(("ResourceFlavor", "", name) for name in "xyz"),
        },
    ),
    ("Cohort", {"spec": {"parentName": "root"}}, {("Cohort", "", "root")}),
    ("Cohort", {"spec": {"parentName": ""}}, set()),
    ("LocalQueue", {"spec": {"clusterQueue": "q"}}, {("ClusterQueue", "", "q")}),
    ("ResourceFlavor", {"spec": {"topologyName": "ib"}}, {("Topology", "", "ib")}),
    (
        "NetworkAttachmentDefinition",
        {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/resourceName": "openshift.io/rail_0"}}},
        {("SR-IOV resource", "", "openshift.io/rail_0")},
    ),
    (
        "RoleBinding",
        {
            "roleRef": {"kind": "Role", "name": "local"},
            "subjects": [
                {"kind": "Group", "name": "people"},
                {"kind": "User", "name": "person"},
                {"kind": "ServiceAccount", "name": "robot", "namespace": "theirs"},
            ],
        },
        {("Role", "own", "local"), ("ServiceAccount", "theirs", "robot")},
    ),
    (
        "ClusterRoleBinding",
        {"roleRef": {"kind": "ClusterRole", "name": "wide"}},
        {("ClusterRole", "", "wide")},
    ),
    (
        "ValidatingAdmissionPolicyBinding",
        {
            "spec": {
                "policyName": "p",
                "paramRef": {"name": "limits", "namespace": "system"},
                "matchResources": {"namespaceSelector": _BY_NAME},
            }
        },
        {
            ("ValidatingAdmissionPolicy", "", "p"),
            ("ConfigMap", "system", "limits"),
            ("Namespace", "", "a"),
        },
    ),
    (
        "PersistentVolumeClaim",
        {"spec": {"volumeName": "v", "storageClassName": ""}},
        {("PersistentVolume", "", "v")},
    ),
    (
        "PersistentVolumeClaim",
        {"spec": {"storageClassName": "fast"}},
        {("StorageClass", "", "fast")},
    ),
    (
        "PersistentVolume",
        {
            "spec": {
                "claimRef": {"kind": "PersistentVolumeClaim", "name": "home", "namespace": "theirs"}
            }
        },
        {("PersistentVolumeClaim", "theirs", "home")},
    ),
    (
        "ExternalSecret",
        {"spec": {"secretStoreRef": {"kind": "ClusterSecretStore", "name": "vault"}}},
        {("ClusterSecretStore", "", "vault")},
    ),
    (
        "ExternalSecret",
        {"spec": {"secretStoreRef": {"name": "vault"}}},
        {("SecretStore", "own", "vault")},
    ),
    (
        "KubeletConfig",
        {"spec": {"machineConfigPoolSelector": {"matchLabels": {"role": "gpu"}}}},
        {("MachineConfigPool label", "", "role=gpu")},
    ),
    (
        "MachineConfig",
        {"metadata": {"labels": {"machineconfiguration.openshift.io/role": "gpu"}}},
        {("MachineConfigPool", "", "gpu")},
    ),
    (
        "NetworkPolicy",
        {
            "spec": {
                "ingress": [{"from": [{"namespaceSelector": _BY_NAME}, {"podSelector": {}}]}],
                "egress": [
                    {
                        "to": [
                            {"namespaceSelector": _BY_EXPRESSION},
                            {"ipBlock": {"cidr": "192.0.2.0/24"}},
                        ]
                    }
                ],
            }
        },
        {("Namespace", "", name) for name in "abc"},
    ),
    (
        "ServiceAccount",
        {"imagePullSecrets": [{"name": "pull"}], "secrets": [{"name": "key"}]},
        {("Secret", "own", "pull"), ("Secret", "own", "key")},
    ),
    (
        "TrainJob",
        {
            "metadata": {
                "labels": {
                    "kueue.x-k8s.io/queue-name": "gpu",
                    "kueue.x-k8s.io/priority-class": "batch",
                },
            },
            "spec": {
                "runtimeRef": {"name": "mpi"},
                "trainer": {"env": [{"valueFrom": {"secretKeyRef": {"name": "wandb"}}}]},
                "podTemplateOverrides": [_POD],
            },
        },
        {
            ("ClusterTrainingRuntime", "", "mpi"),
            ("LocalQueue", "own", "gpu"),
            ("Secret", "own", "wandb"),
            ("WorkloadPriorityClass", "", "batch"),
            *_pod_uses("own"),
        },
    ),
    (
        "TrainJob",
        {"spec": {"runtimeRef": {"kind": "TrainingRuntime", "name": "mine"}}},
        {("TrainingRuntime", "own", "mine")},
    ),
    ("TrainingRuntime", _RUNTIME, _pod_uses("own")),
    ("LimitRange", {"spec": {}}, set()),
]


@pytest.mark.parametrize(("kind", "fields", "expected"), CASES)
def test_extractor_finds_every_name(
    kind: str, fields: dict[str, Any], expected: set[tuple[str, str, str]]
) -> None:
    """Each kind's names are found, in the namespace that Kubernetes looks them up in."""
    found = list(uses({"kind": kind, **fields}, Scope("own", "openshift.io")))
    assert {(use.kind, use.namespace, use.name) for use in found} == expected | {
        ("Namespace", "", "own")
    }
    assert len(found) == len(expected) + 1


def test_cluster_wide_runtime_means_each_listing_namespace() -> None:
    """What a cluster-wide runtime names must be in every namespace that lists it."""
    found = uses({"kind": "ClusterTrainingRuntime", **_RUNTIME}, Scope("", "openshift.io"))
    assert {(use.kind, use.namespace, use.name) for use in found} == _pod_uses("*")


def test_use_says_where() -> None:
    """The place reads as a path of keys and indexes."""
    body = {"kind": "ClusterQueue", "spec": {"resourceGroups": [{"flavors": [{"name": "x"}]}]}}
    assert [use.where for use in uses(body, Scope("", ""))] == [
        "spec.resourceGroups[0].flavors[0].name"
    ]
