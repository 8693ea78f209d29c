"""Resource names of kinds, as RBAC wants them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from generator.model.delivery import plural
from generator.schema.manifests import schema_folder

PLURALS = {
    "APIServer": "apiservers",
    "AppProject": "appprojects",
    "Application": "applications",
    "ApplicationSet": "applicationsets",
    "ClusterQueue": "clusterqueues",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ClusterTrainingRuntime": "clustertrainingruntimes",
    "Cohort": "cohorts",
    "ConfigMap": "configmaps",
    "ExternalSecret": "externalsecrets",
    "IPPool": "ippools",
    "Kueue": "kueues",
    "KubeletConfig": "kubeletconfigs",
    "LimitRange": "limitranges",
    "LocalQueue": "localqueues",
    "MachineConfig": "machineconfigs",
    "MachineConfigPool": "machineconfigpools",
    "Namespace": "namespaces",
    "NetworkAttachmentDefinition": "network-attachment-definitions",
    "NetworkPolicy": "networkpolicies",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "ResourceFlavor": "resourceflavors",
    "ResourceQuota": "resourcequotas",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "SecurityContextConstraints": "securitycontextconstraints",
    "ServiceAccount": "serviceaccounts",
    "SriovIBNetwork": "sriovibnetworks",
    "SriovNetwork": "sriovnetworks",
    "SriovNetworkNodePolicy": "sriovnetworknodepolicies",
    "SriovNetworkPoolConfig": "sriovnetworkpoolconfigs",
    "Topology": "topologies",
    "TrainJob": "trainjobs",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "WorkloadPriorityClass": "workloadpriorityclasses",
}
"""Kind -> `spec.names.plural` of its CRD, or the path in Kubernetes' OpenAPI specification."""

NEVER_SERVED = {"component", "configuration", "kubeletconfiguration", "kustomization", "policy"}
"""Files that programs read: Kustomize's, Kueue's, the kubelet's, and the API server's of what it audits."""

RELEASES = sorted(
    path.parent.name for path in (Path(__file__).parents[2] / "generator/releases").glob("*/release.yaml")
)


def release(name: str) -> tuple[set[str], dict[str, Any]]:
    """Return the kinds that a release has schemas of, in small letters, and what these were derived from."""
    folder = schema_folder(name)
    kinds = {path.stem.rpartition("_")[0] for path in folder.rglob("*.json")} - NEVER_SERVED
    return kinds, tomllib.loads((folder.parent / "kinds.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", sorted(PLURALS))
def test_plural_is_that_of_the_api_server(kind: str) -> None:
    """A wrong one is a rule that grants nothing: Argo CD's sync fails on the cluster only."""
    assert plural(kind) == PLURALS[kind]


def test_every_kind_of_a_release_is_in_the_table() -> None:
    """A kind that a release brings is looked up before it is emitted."""
    known = set().union(*(release(name)[0] for name in RELEASES))

    assert {kind.lower() for kind in PLURALS} == known


@pytest.mark.parametrize("name", RELEASES)
def test_table_agrees_with_the_files_that_tell_it(name: str) -> None:
    """Many CRDs are in files `<group>_<plural>.yaml`: no hand wrote these."""
    _, kinds = release(name)
    files = [Path(file).stem for _, file, _ in kinds["crds"]]
    told = {match[1] for file in files if (match := re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+_([a-z]+)", file))}

    assert len(told) >= 12
    assert told <= set(PLURALS.values())
