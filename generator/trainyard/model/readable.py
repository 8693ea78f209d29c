"""The closed table of what is read of a cluster: no Secret, no pod, no log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from trainyard.model.facts import Resource
from trainyard.model.readable_of_others import OF_OTHERS
from trainyard.model.readable_of_tree import OF_TREE

_ADMISSION = "admissionregistration.k8s.io"
_ARGOCD = "argoproj.io"
_KUEUE = "kueue.x-k8s.io"
_MACHINES = "machineconfiguration.openshift.io"
_RBAC = "rbac.authorization.k8s.io"
_SRIOV = "sriovnetwork.openshift.io"
_LABELS = ("metadata.labels",)
_SPEC = ("spec",)
_STATES = ("status.conditions.type", "status.conditions.status", "status.conditions.message")

CRDS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    ("spec", "status.storedVersions"),
)
NODES = Resource(
    "",
    "v1",
    "nodes",
    "Node",
    (
        "spec.taints",
        "spec.unschedulable",
        "status.allocatable",
        "status.capacity",
        "status.nodeInfo.architecture",
        "status.nodeInfo.kubeletVersion",
    ),
)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", compared=_LABELS, is_open=True)
VOLUMES = Resource(
    "",
    "v1",
    "persistentvolumes",
    "PersistentVolume",
    compared=(
        "spec.accessModes",
        "spec.capacity",
        "spec.claimRef.name",
        "spec.claimRef.namespace",
        "spec.mountOptions",
        "spec.nfs",
        "spec.persistentVolumeReclaimPolicy",
    ),
    is_open=True,
)
STORAGE_CLASSES = Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass")
DEPLOYMENTS = Resource(
    "apps",
    "v1",
    "deployments",
    "Deployment",
    (
        "spec.replicas",
        "spec.template.spec.containers.name",
        "spec.template.spec.containers.image",
        "status.availableReplicas",
    ),
)
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet", DEPLOYMENTS.keep)
KUEUE_FILE = Resource(
    "", "v1", "configmaps", "ConfigMap", ("data",), only=("kueue-system", "kueue-manager-config")
)
KUEUE_OPERATOR = Resource(
    "kueue.openshift.io",
    "v1",
    "kueues",
    "Kueue",
    ("spec.config",),
    compared=("spec.config", "spec.managementState"),
    is_open=True,
)
CLUSTER_QUEUES = Resource(
    _KUEUE,
    "v1beta2",
    "clusterqueues",
    "ClusterQueue",
    ("spec.stopPolicy", "status.flavorsReservation", *_STATES),
    compared=_SPEC,
)
LOCAL_QUEUES = Resource(
    _KUEUE,
    "v1beta2",
    "localqueues",
    "LocalQueue",
    ("spec.clusterQueue", *_STATES),
    compared=_SPEC,
)
COHORTS = Resource(_KUEUE, "v1beta2", "cohorts", "Cohort", compared=_SPEC)
FLAVORS = Resource(_KUEUE, "v1beta2", "resourceflavors", "ResourceFlavor", compared=_SPEC)
TOPOLOGIES = Resource(_KUEUE, "v1beta2", "topologies", "Topology", compared=_SPEC)
PRIORITIES = Resource(
    _KUEUE,
    "v1beta2",
    "workloadpriorityclasses",
    "WorkloadPriorityClass",
    compared=("value",),
)
WORKLOADS = Resource(
    _KUEUE,
    "v1beta2",
    "workloads",
    "Workload",
    (
        "spec.active",
        "spec.priority",
        "spec.priorityClassName",
        "spec.priorityClassRef",
        "spec.queueName",
        "status.admission",
        "status.conditions.lastTransitionTime",
        *_STATES[:2],
        "status.resourceRequests",
    ),
)
TRAIN_JOBS = Resource(
    "trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob", ("spec.runtimeRef",)
)
RUNTIMES = Resource(
    "trainer.kubeflow.org",
    "v1alpha1",
    "clustertrainingruntimes",
    "ClusterTrainingRuntime",
    compared=_SPEC,
    is_open=True,
)
POLICIES = Resource(
    _ADMISSION,
    "v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
    compared=_SPEC,
)
BINDINGS = Resource(
    _ADMISSION,
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    ("spec.policyName", "spec.validationActions"),
    compared=_SPEC,
)
APPLICATIONS = Resource(
    _ARGOCD,
    "v1alpha1",
    "applications",
    "Application",
    ("status.health.status", "status.sync.status"),
    # Parameters of Helm may have any value.
    compared=(
        "spec.destination",
        "spec.ignoreDifferences",
        "spec.project",
        "spec.source.path",
        "spec.source.targetRevision",
        "spec.syncPolicy",
    ),
    digested=("spec.source.repoURL", "spec.sources.repoURL"),
)
APPLICATION_SETS = Resource(
    _ARGOCD,
    "v1alpha1",
    "applicationsets",
    "ApplicationSet",
    compared=("spec.preservedFields", "spec.syncPolicy"),
    is_open=True,
    digested=("spec.template.spec.source.repoURL",),
)
PROJECTS = Resource(
    _ARGOCD,
    "v1alpha1",
    "appprojects",
    "AppProject",
    compared=(
        "spec.clusterResourceWhitelist",
        "spec.destinations",
        "spec.namespaceResourceWhitelist",
    ),
)
ROLES = Resource(_RBAC, "v1", "clusterroles", "ClusterRole", compared=("rules",))
ROLE_BINDINGS = Resource(
    _RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", compared=("roleRef", "subjects")
)
NODE_POLICIES = Resource(
    _SRIOV,
    "v1",
    "sriovnetworknodepolicies",
    "SriovNetworkNodePolicy",
    ("spec.nicSelector", "spec.nodeSelector", "spec.priority", "spec.resourceName"),
    compared=_SPEC,
    is_open=True,
)
NODE_STATES = Resource(
    _SRIOV,
    "v1",
    "sriovnetworknodestates",
    "SriovNetworkNodeState",
    (
        "status.syncStatus",
        *(
            f"status.interfaces.{field}"
            for field in (
                *("deviceID", "linkSpeed", "linkType", "mtu", "name", "numVfs", "pciAddress"),
                *("totalvfs", "vendor"),
            )
        ),
    ),
)
NETWORKS = Resource(_SRIOV, "v1", "sriovnetworks", "SriovNetwork", compared=_SPEC, is_open=True)
IB_NETWORKS = Resource(
    _SRIOV, "v1", "sriovibnetworks", "SriovIBNetwork", compared=_SPEC, is_open=True
)
POOL_CONFIGS = Resource(
    _SRIOV, "v1", "sriovnetworkpoolconfigs", "SriovNetworkPoolConfig", compared=_SPEC, is_open=True
)
ADDRESS_POOLS = Resource(
    "nv-ipam.nvidia.com", "v1alpha1", "ippools", "IPPool", compared=_SPEC, is_open=True
)
MACHINE_POOLS = Resource(
    _MACHINES,
    "v1",
    "machineconfigpools",
    "MachineConfigPool",
    compared=("spec.machineConfigSelector", "spec.maxUnavailable", "spec.nodeSelector"),
    is_open=True,
)
# Its files may hold anything.
MACHINE_CONFIGS = Resource(
    _MACHINES, "v1", "machineconfigs", "MachineConfig", compared=_LABELS, is_open=True
)
KUBELET_CONFIGS = Resource(
    _MACHINES, "v1", "kubeletconfigs", "KubeletConfig", compared=_SPEC, is_open=True
)

TABLE = (
    CRDS,
    *(NODES, NAMESPACES, VOLUMES, STORAGE_CLASSES, DEPLOYMENTS, STATEFUL_SETS),
    *(KUEUE_FILE, KUEUE_OPERATOR, CLUSTER_QUEUES, LOCAL_QUEUES, COHORTS, FLAVORS, TOPOLOGIES),
    *(PRIORITIES, WORKLOADS, TRAIN_JOBS, RUNTIMES, POLICIES, BINDINGS),
    *(APPLICATIONS, APPLICATION_SETS, PROJECTS, ROLES, ROLE_BINDINGS),
    *(NODE_POLICIES, NODE_STATES, NETWORKS, IB_NETWORKS, POOL_CONFIGS, ADDRESS_POOLS),
    *(MACHINE_POOLS, MACHINE_CONFIGS, KUBELET_CONFIGS),
    *OF_OTHERS,
    *OF_TREE,
)
"""All that is read. The CRDs come first: they say which versions of the others are served."""

DIGEST = sha256(repr(TABLE).encode()).hexdigest()[:16]
"""Of the table: facts that were read by another one lack fields, or whole kinds."""
SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
ANNOTATIONS = frozenset({SYNC_OPTIONS, "argocd.argoproj.io/compare-options"})
ANNOTATIONS_OF_DOMAIN = ("/claimable-storage-classes", "/claimed-storage")
"""Annotations that are kept and compared: those of Argo CD, and ends of those that policies read,
whatever the platform's domain is."""


def is_compared(annotation: str) -> bool:
    """Return whether an annotation decides what people may do, or what Argo CD deletes."""
    return annotation in ANNOTATIONS or annotation.endswith(ANNOTATIONS_OF_DOMAIN)


Kinds = Mapping[tuple[str, str], Sequence[Resource]]
"""Resources of a table by group and kind."""


def by_kind(table: Iterable[Resource]) -> Kinds:
    """Return the resources of a table by group and kind."""
    kinds: dict[tuple[str, str], list[Resource]] = {}
    for resource in table:
        kinds.setdefault((resource.group, resource.kind), []).append(resource)
    return kinds


_KINDS = by_kind(TABLE)


def resource_of(body: object, kinds: Kinds = _KINDS) -> Resource | None:
    """Return the kind of an object; None if it is not in a table."""
    if not isinstance(body, dict):
        return None
    group = str(body.get("apiVersion")).rpartition("/")[0]
    known = kinds.get((group, str(body.get("kind"))), ())
    return next((each for each in known if each.has(body)), None)
