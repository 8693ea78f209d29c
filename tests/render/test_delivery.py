"""Resource names of kinds, as RBAC wants them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from trainyard.profiles.read import PACKAGE
from trainyard.render.delivery import plural
from trainyard.schema.manifests import schema_folder

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
    "CronJob": "cronjobs",
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
"""Files that some program reads, not resources."""

RELEASES = sorted(path.parent.name for path in PACKAGE.glob("releases/*/release.yaml"))


@pytest.mark.parametrize("kind", sorted(PLURALS))
def test_plural_is_that_of_the_api_server(kind: str) -> None:
    """A wrong one is a rule that grants nothing: Argo CD's sync fails on the cluster only."""
    assert plural(kind) == PLURALS[kind]


def test_every_kind_of_the_releases_is_in_the_table() -> None:
    """A kind that a release brings is looked up before it is emitted."""
    files = [path for name in RELEASES for path in schema_folder(name).rglob("*.json")]
    known = {path.stem.rpartition("_")[0] for path in files} - NEVER_SERVED

    assert {kind.lower() for kind in PLURALS} == known


@pytest.mark.parametrize("name", RELEASES)
def test_table_agrees_with_the_files_that_tell_it(name: str) -> None:
    """Many CRDs are in files `<group>_<plural>.yaml`: no hand wrote these."""
    kinds = tomllib.loads((schema_folder(name).parent / "kinds.toml").read_text(encoding="utf-8"))
    files = [Path(file).stem for _, file, _ in kinds["crds"]]
    told = {
        match[1]
        for file in files
        if (match := re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+_([a-z]+)", file))
    }

    assert len(told) >= 12
    assert told <= set(PLURALS.values())
