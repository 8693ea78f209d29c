"""Faults that are planted into clusters with all that this repository's trees need.

The table was written before the first run: what is changed, the one rule that finds it, and where.
"""

from __future__ import annotations

from typing import Any, NamedTuple

LAB, EAST = "lab", "prod-east"
BEFORE, AFTER = "before", "after"
Body = dict[str, Any]


class Fault(NamedTuple):
    """A fault.

    Args:
        what: in words.
        cluster: of this repository.
        phase: of the preflight.
        objects: what differs of the cluster, by kind, namespace and name; None for a lost object.
        rule: that finds it, without its family.
        place: file below the profiles, and path in it.
    """

    what: str
    cluster: str
    phase: str
    objects: dict[str, Body | None]
    rule: str
    place: str


def _allocatable(resource: str, amount: str) -> Body:
    return {"status": {"allocatable": {resource: amount}}}


def _webhooks(group: str, resources: list[str], **fields: Any) -> Body:
    service = {"namespace": "site", "name": "hook"}
    rules = [{"apiGroups": [group], "operations": ["CREATE"], "resources": resources}]
    client = {"service": service, "caBundle": "Y2E="}
    webhook = {"name": "hook.example.com", "clientConfig": client, "rules": rules, **fields}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "webhooks": [webhook]}


def _kueue(yaml: str) -> Body:
    return {"data": {"controller_manager_config.yaml": yaml}}


def _conditions(kind: str, status: str, message: str = "") -> Body:
    return {"status": {"conditions": [{"type": kind, "status": status, "message": message}]}}


def _crd(**version: Any) -> Body:
    return {"spec": {"versions": [{"name": "v1beta2", "served": True, **version}]}}


def _application(repository: str) -> Body:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "metadata": {"labels": {"app.kubernetes.io/managed-by": "trainyard"}},
        "spec": {"source": {"repoURL": repository}},
    }


def _image(name: str) -> Body:
    container = {"name": "manager", "image": f"registry.example.com/{name}"}
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


def _policy(**spec: Any) -> Body:
    nodes = {"nvidia.com/gpu.product": "NVIDIA-H200"}
    return {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "spec": {"nodeSelector": nodes, "numVfs": 1, "resourceName": "site", **spec},
    }


_VOLUME = "PersistentVolume/pvc-0b6f3c52-5f0e-4c59-9d55-2a7f7a7f3f11"
_STATES = "SriovNetworkNodeState/openshift-sriov-network-operator"
_HOOKS = "MutatingWebhookConfiguration"
_ENDPOINTS = "EndpointSlice/kueue-system/kueue-1"
_CM = "ConfigMap/openshift-gitops/argocd-cm"
_NAME = "kubernetes.io/metadata.name"
_NOT_NLP = {"matchExpressions": [{"key": _NAME, "operator": "NotIn", "values": ["team-nlp"]}]}
_EXCLUSIONS = "- {apiGroups: [networking.k8s.io], kinds: [NetworkPolicy]}"
_NEW_QUEUE = {"apiVersion": "kueue.x-k8s.io/v1beta2", "spec": {"clusterQueue": "site"}}
SITE_FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "spec": {"nodeLabels": {"ml.example.com/node-type": "xe9680-h200"}},
}


def site_queue(stop: str, reserved: str, nominal: int = 800) -> Body:
    """Return a queue of the site on the nodes of a pool."""
    cell = {"name": "nvidia.com/gpu", "nominalQuota": nominal}
    group = {"coveredResources": [cell["name"]], "flavors": [{"name": "site", "resources": [cell]}]}
    total = {"name": cell["name"], "total": reserved}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "spec": {"stopPolicy": stop, "resourceGroups": [group]},
        "status": {"flavorsReservation": [{"name": "site", "resources": [total]}]},
    }


_SITE_QUEUE = "ClusterQueue/site"
_BY_HELM = {"managedFields": [{"manager": "helm"}]}
_STRICT = {
    "openAPIV3Schema": {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {
                "type": "object",
                "properties": {"fairSharing": {"type": "object", "properties": {"weight": {}}}},
            },
        },
    }
}
_LAB, _EAST = "clusters/lab.yaml", "clusters/prod-east.yaml"
_DGX = f"{_EAST} pools.dgx-h100"
_H200 = f"{_LAB} pools.xe9680-h200"

NODES = (
    Fault(
        "a node is gone",
        LAB,
        BEFORE,
        {"Node/cpu-3": None},
        "too-few-nodes",
        f"{_LAB} pools.cpu.nodes",
    ),
    Fault(
        "a node is cordoned",
        EAST,
        BEFORE,
        {"Node/dgx-h100-4": {"spec": {"unschedulable": True}}},
        "too-few-nodes",
        f"{_DGX}.nodes",
    ),
    Fault(
        "a GPU has fallen off",
        EAST,
        BEFORE,
        {"Node/dgx-h100-4": _allocatable("nvidia.com/gpu", "7")},
        "less-allocatable",
        _DGX,
    ),
    Fault(
        "kubelet keeps more memory",
        LAB,
        BEFORE,
        {"Node/cpu-1": _allocatable("memory", "100Gi")},
        "less-allocatable",
        f"{_LAB} pools.cpu",
    ),
    Fault(
        "a daemon takes cores",
        LAB,
        BEFORE,
        {"Node/cpu-phi-0": _allocatable("cpu", "1500m")},
        "less-allocatable",
        f"{_LAB} pools.cpu-phi",
    ),
    Fault(
        "an amount is not a number",
        LAB,
        BEFORE,
        {"Node/cpu-1": _allocatable("pods", "many")},
        "less-allocatable",
        f"{_LAB} pools.cpu",
    ),
    Fault(
        "a leaf has no name",
        EAST,
        BEFORE,
        {"Node/dgx-h100-4": {"metadata": {"labels": {"ml.example.com/leaf": None}}}},
        "node-without-label",
        _DGX,
    ),
    Fault(
        "a taint is gone",
        EAST,
        BEFORE,
        {"Node/dgx-h100-4": {"spec": {"taints": []}}},
        "node-without-taint",
        _DGX,
    ),
    Fault(
        "a taint lets pods stay",
        EAST,
        BEFORE,
        {"Node/dgx-h100-4": {"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoExec"}]}}},
        "node-without-taint",
        _DGX,
    ),
    Fault(
        "a node has older GPUs",
        EAST,
        BEFORE,
        {"Node/dgx-h100-4": {"metadata": {"labels": {"nvidia.com/gpu.product": "NVIDIA-A100"}}}},
        "other-hardware",
        _DGX,
    ),
    Fault(
        "a node has other processors",
        LAB,
        BEFORE,
        {"Node/cpu-2": {"status": {"nodeInfo": {"architecture": "arm64"}}}},
        "other-hardware",
        f"{_LAB} pools.cpu",
    ),
)
PORTS = (
    Fault(
        "the operator knows nothing of a node",
        EAST,
        BEFORE,
        {f"{_STATES}/dgx-h100-3": None},
        "other-port",
        _DGX,
    ),
    Fault(
        "setting up a node failed",
        EAST,
        AFTER,
        {f"{_STATES}/dgx-h100-3": {"status": {"syncStatus": "Failed"}}},
        "other-port",
        _DGX,
    ),
    Fault(
        "virtual functions are missing",
        EAST,
        AFTER,
        {"Node/dgx-h100-4": _allocatable("openshift.io/ib_rail_0", "0")},
        "less-allocatable",
        _DGX,
    ),
    Fault(
        "a policy of the site has the ports",
        EAST,
        BEFORE,
        {
            "SriovNetworkNodePolicy/openshift-sriov-network-operator/site": _policy(
                nodeSelector={}, nicSelector={"vendor": "15b3", "rootDevices": ["0000:18:00.0"]}
            )
        },
        "overruled-policy",
        _DGX,
    ),
    Fault(
        "a node is in two machine pools",
        EAST,
        BEFORE,
        {
            "MachineConfigPool/site": {
                "apiVersion": "machineconfiguration.openshift.io/v1",
                "spec": {"nodeSelector": {"matchLabels": {"site/gpu": "yes"}}},
            },
            "Node/dgx-h100-4": {"metadata": {"labels": {"site/gpu": "yes"}}},
        },
        "node-of-two-machine-pools",
        _DGX,
    ),
)
QUEUES = (
    Fault(
        "a cohort of the site has the name",
        LAB,
        BEFORE,
        {"Cohort/research": {**_NEW_QUEUE, "metadata": _BY_HELM}},
        "name-taken",
        f"{_LAB} cohorts.research",
    ),
    Fault(
        "a priority of the site has the name",
        EAST,
        BEFORE,
        {"WorkloadPriorityClass/batch": {**_NEW_QUEUE, "metadata": _BY_HELM}},
        "name-taken",
        f"{_EAST} priorities.batch",
    ),
    Fault(
        "another Argo CD has an object",
        EAST,
        BEFORE,
        {
            "Cohort/research": {
                **_NEW_QUEUE,
                "metadata": {
                    "annotations": {
                        "argocd.argoproj.io/tracking-id": "prod-east-platform:kueue/Cohort:/x",
                        "argocd.argoproj.io/installation-id": "west",
                    }
                },
            }
        },
        "name-taken",
        f"{_EAST} cohorts.research",
    ),
    Fault(
        "a network policy of the site has the name, in a namespace that a team keeps",
        EAST,
        BEFORE,
        {
            "NetworkPolicy/team-nlp/default-deny": {
                "apiVersion": "networking.k8s.io/v1",
                "metadata": _BY_HELM,
                "spec": {"podSelector": {}},
            }
        },
        "name-taken",
        "teams/nlp.yaml",
    ),
    Fault(
        "a team has a queue of the site",
        EAST,
        BEFORE,
        {"LocalQueue/team-nlp/old": _NEW_QUEUE},
        "other-local-queue",
        "teams/nlp.yaml",
    ),
    Fault(
        "OpenShift AI makes queues",
        EAST,
        BEFORE,
        {
            "DataScienceCluster/default-dsc": {
                "spec": {"components": {"kueue": {"autoCreateQueues": True}}}
            }
        },
        "default-queues",
        f"{_EAST} release",
    ),
    Fault(
        "Kueue would drop a namespace",
        LAB,
        BEFORE,
        {"LocalQueue/vision-lab/main": _NEW_QUEUE, "Namespace/vision-lab": {"apiVersion": "v1"}},
        "queue-left-out",
        _LAB,
    ),
    Fault(
        "an old queue is open beside an open team's",
        LAB,
        AFTER,
        {"ResourceFlavor/site": SITE_FLAVOR, _SITE_QUEUE: site_queue("None", "0")},
        "nodes-promised-twice",
        _H200,
    ),
    Fault(
        "an old queue is held, and has nodes reserved",
        LAB,
        BEFORE,
        {"ResourceFlavor/site": SITE_FLAVOR, _SITE_QUEUE: site_queue("Hold", "800")},
        "nodes-promised-twice",
        _H200,
    ),
    Fault(
        "Kueue's webhook drops a team",
        LAB,
        BEFORE,
        {f"{_HOOKS}/kueue": {"webhooks": []}},
        "webhook-left-out",
        _LAB,
    ),
    Fault(
        "a queue waits for its flavor",
        LAB,
        AFTER,
        {"ClusterQueue/nlp-gpu": _conditions("Active", "False", "flavor is not there")},
        "inactive-queue",
        "teams/nlp.yaml",
    ),
    Fault(
        "a queue of a team was deleted",
        LAB,
        AFTER,
        {"LocalQueue/team-nlp/gpu": None},
        "inactive-queue",
        "teams/nlp.yaml",
    ),
    Fault(
        "Kueue has another configuration",
        LAB,
        AFTER,
        {"ConfigMap/kueue-system/kueue-manager-config": _kueue("kind: Configuration\n")},
        "other-kueue-configuration",
        _LAB,
    ),
)
CONTROLLERS = (
    Fault(
        "Kueue is not installed",
        LAB,
        BEFORE,
        {"Deployment/kueue-system/kueue-controller-manager": None},
        "controller-not-ready",
        f"{_LAB} release",
    ),
    Fault(
        "Trainer has no ready pod",
        LAB,
        BEFORE,
        {
            "Deployment/kubeflow-system/kubeflow-trainer-controller-manager": {
                "status": {"availableReplicas": 0}
            }
        },
        "controller-not-ready",
        f"{_LAB} release",
    ),
    Fault(
        "Kueue is of last year",
        LAB,
        BEFORE,
        {"Deployment/kueue-system/kueue-controller-manager": _image("kueue:v0.14.2")},
        "other-version",
        f"{_LAB} installed.kueue",
    ),
    Fault(
        "a version can't be known",
        LAB,
        BEFORE,
        {"Deployment/jobset-system/jobset-controller-manager": _image(f"jobset@sha256:{'a' * 64}")},
        "other-version",
        f"{_LAB} installed.jobset",
    ),
    Fault(
        "a kind is not there",
        EAST,
        BEFORE,
        {"CustomResourceDefinition/topologies.kueue.x-k8s.io": None},
        "kind-not-served",
        f"{_EAST} fabrics.ib",
    ),
    Fault(
        "a kind is served in an old version alone",
        LAB,
        BEFORE,
        {"CustomResourceDefinition/cohorts.kueue.x-k8s.io": _crd(name="v1beta1")},
        "kind-not-served",
        f"{_LAB} cohorts.research",
    ),
    Fault(
        "a kind lacks a field",
        EAST,
        BEFORE,
        {"CustomResourceDefinition/cohorts.kueue.x-k8s.io": _crd(schema=_STRICT)},
        "field-not-served",
        f"{_EAST} cohorts.research",
    ),
    Fault(
        "objects are stored in an old version",
        LAB,
        BEFORE,
        {
            "CustomResourceDefinition/cohorts.kueue.x-k8s.io": {
                "status": {"storedVersions": ["v1beta1", "v1beta2"]}
            }
        },
        "old-stored-version",
        f"{_LAB} release",
    ),
    Fault(
        "the namespace of an operator is missing",
        EAST,
        BEFORE,
        {"Namespace/openshift-sriov-network-operator": None},
        "missing-namespace",
        _DGX,
    ),
    Fault(
        "nobody answers Kueue's webhook",
        LAB,
        BEFORE,
        {_ENDPOINTS: {"endpoints": []}},
        "broken-webhook",
        _LAB,
    ),
    Fault(
        "a scanner refuses pods as long as it is away",
        EAST,
        BEFORE,
        {"ValidatingWebhookConfiguration/scanner": _webhooks("", ["pods"])},
        "broken-webhook",
        _EAST,
    ),
    Fault(
        "a mesh adds containers",
        LAB,
        BEFORE,
        {f"{_HOOKS}/mesh": _webhooks("", ["pods"], failurePolicy="Ignore")},
        "other-mutating-webhook",
        _LAB,
    ),
)
SURROUNDINGS = (
    Fault(
        "a storage class is missing",
        LAB,
        BEFORE,
        {"StorageClass/lustre": None},
        "missing-storage-class",
        f"{_LAB} storage.scratch",
    ),
    Fault(
        "an adopted volume is held",
        EAST,
        BEFORE,
        {_VOLUME: {"spec": {"claimRef": {"namespace": "cv", "name": "i"}}}},
        "volume-taken",
        "teams/vision.yaml",
    ),
    Fault(
        "an adopted volume ends with its claim",
        EAST,
        BEFORE,
        {_VOLUME: {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}},
        "volume-taken",
        "teams/vision.yaml",
    ),
    Fault(
        "a secret store leaves out a team",
        EAST,
        BEFORE,
        {"ClusterSecretStore/vault": {"spec": {"conditions": [{"namespaceSelector": _NOT_NLP}]}}},
        "missing-secret-store",
        "teams/nlp.yaml",
    ),
    Fault(
        "alerts are not selected",
        LAB,
        BEFORE,
        {"Prometheus/monitoring/main": {"spec": {"ruleSelector": {"matchLabels": {"a": "b"}}}}},
        "monitor-not-selected",
        f"{_LAB} monitoring",
    ),
    Fault(
        "scrapes of other namespaces are not selected",
        LAB,
        BEFORE,
        {"Prometheus/monitoring/main": {"spec": {"serviceMonitorNamespaceSelector": None}}},
        "monitor-not-selected",
        f"{_LAB} monitoring",
    ),
    Fault(
        "user workloads are not monitored",
        EAST,
        BEFORE,
        {"StatefulSet/openshift-user-workload-monitoring/prometheus-user-workload": None},
        "monitor-not-selected",
        f"{_EAST} monitoring",
    ),
    Fault(
        "Argo CD leaves out network policies",
        EAST,
        BEFORE,
        {_CM: {"data": {"resource.exclusions": _EXCLUSIONS}}},
        "excluded-kind",
        _EAST,
    ),
    Fault(
        "Argo CD tracks by label",
        EAST,
        BEFORE,
        {_CM: {"data": {"application.resourceTrackingMethod": "label"}}},
        "tracking-by-label",
        _EAST,
    ),
    Fault(
        "another repository has the cluster's name",
        EAST,
        BEFORE,
        {"Application/openshift-gitops/prod-east-team-nlp": _application("https://a:b@git.x/y")},
        "application-of-another-repository",
        "teams/nlp.yaml",
    ),
    Fault(
        "an Application is out of sync",
        EAST,
        AFTER,
        {
            "Application/openshift-gitops/prod-east-team-nlp": {
                "status": {"sync": {"status": "OutOfSync"}}
            }
        },
        "unsynced-application",
        "teams/nlp.yaml",
    ),
    Fault(
        "a binding only warns",
        LAB,
        AFTER,
        {
            "ValidatingAdmissionPolicyBinding/trainyard-pool-nodes": {
                "spec": {"validationActions": ["Warn"]}
            }
        },
        "missing-policy",
        _LAB,
    ),
    Fault(
        "a policy was deleted",
        EAST,
        AFTER,
        {"ValidatingAdmissionPolicy/trainyard-pool-nodes": None},
        "missing-policy",
        _EAST,
    ),
)
FAULTS = (*NODES, *PORTS, *QUEUES, *CONTROLLERS, *SURROUNDINGS)
