"""The closed table of what is read of a cluster: no Secret, no pod, no log."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.model.facts import Resource

_ARGOCD = "argoproj.io"
_KUEUE = "kueue.x-k8s.io"
_MACHINES = "machineconfiguration.openshift.io"
_RBAC = "rbac.authorization.k8s.io"
_SRIOV = "sriovnetwork.openshift.io"
_STATES = ("status.conditions.type", "status.conditions.status", "status.conditions.message")

CRDS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", ("spec",)
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
NAMESPACES = Resource("", "v1", "namespaces", "Namespace")
VOLUMES = Resource(
    "", "v1", "persistentvolumes", "PersistentVolume", ("spec.persistentVolumeReclaimPolicy",)
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
STATEFUL_SETS = Resource(
    "apps",
    "v1",
    "statefulsets",
    "StatefulSet",
    ("spec.replicas", *DEPLOYMENTS.keep[1:]),
)
KUEUE_FILE = Resource(
    "", "v1", "configmaps", "ConfigMap", ("data",), only=("kueue-system", "kueue-manager-config")
)
KUEUE_OPERATOR = Resource("kueue.openshift.io", "v1", "kueues", "Kueue", ("spec.config",))
CLUSTER_QUEUES = Resource(_KUEUE, "v1beta2", "clusterqueues", "ClusterQueue", ("spec", *_STATES))
LOCAL_QUEUES = Resource(
    _KUEUE, "v1beta2", "localqueues", "LocalQueue", ("spec.clusterQueue", *_STATES)
)
COHORTS = Resource(_KUEUE, "v1beta2", "cohorts", "Cohort", ("spec",))
FLAVORS = Resource(_KUEUE, "v1beta2", "resourceflavors", "ResourceFlavor", ("spec",))
TOPOLOGIES = Resource(_KUEUE, "v1beta2", "topologies", "Topology", ("spec",))
PRIORITIES = Resource(
    _KUEUE, "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass", ("value",)
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
    "trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes", "ClusterTrainingRuntime"
)
POLICIES = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
)
BINDINGS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    ("spec.policyName", "spec.validationActions"),
)
APPLICATIONS = Resource(
    _ARGOCD,
    "v1alpha1",
    "applications",
    "Application",
    ("status.health.status", "status.sync.status"),
)
APPLICATION_SETS = Resource(_ARGOCD, "v1alpha1", "applicationsets", "ApplicationSet")
PROJECTS = Resource(_ARGOCD, "v1alpha1", "appprojects", "AppProject")
ROLES = Resource(_RBAC, "v1", "clusterroles", "ClusterRole", ("rules.verbs",))
ROLE_BINDINGS = Resource(_RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding")
NODE_POLICIES = Resource(
    _SRIOV,
    "v1",
    "sriovnetworknodepolicies",
    "SriovNetworkNodePolicy",
    (
        *("spec.linkType", "spec.mtu", "spec.nicSelector", "spec.nodeSelector", "spec.numVfs"),
        *("spec.priority", "spec.resourceName"),
    ),
)
NODE_STATES = Resource(
    _SRIOV,
    "v1",
    "sriovnetworknodestates",
    "SriovNetworkNodeState",
    tuple(
        f"status.interfaces.{field}"
        for field in (
            *("deviceID", "linkSpeed", "linkType", "mtu", "name", "numVfs", "pciAddress"),
            *("totalvfs", "vendor"),
        )
    ),
)
NETWORKS = Resource(
    _SRIOV,
    "v1",
    "sriovnetworks",
    "SriovNetwork",
    ("spec.networkNamespace", "spec.resourceName", "spec.vlan"),
)
IB_NETWORKS = Resource(_SRIOV, "v1", "sriovibnetworks", "SriovIBNetwork")
POOL_CONFIGS = Resource(_SRIOV, "v1", "sriovnetworkpoolconfigs", "SriovNetworkPoolConfig")
ADDRESS_POOLS = Resource("nv-ipam.nvidia.com", "v1alpha1", "ippools", "IPPool")
MACHINE_POOLS = Resource(_MACHINES, "v1", "machineconfigpools", "MachineConfigPool")
MACHINE_CONFIGS = Resource(_MACHINES, "v1", "machineconfigs", "MachineConfig")
KUBELET_CONFIGS = Resource(_MACHINES, "v1", "kubeletconfigs", "KubeletConfig")
NUMA = Resource(
    "topology.node.k8s.io", "v1alpha2", "noderesourcetopologies", "NodeResourceTopology", ("zones",)
)

TABLE = (
    CRDS,
    *(NODES, NAMESPACES, VOLUMES, STORAGE_CLASSES, DEPLOYMENTS, STATEFUL_SETS),
    *(KUEUE_FILE, KUEUE_OPERATOR, CLUSTER_QUEUES, LOCAL_QUEUES, COHORTS, FLAVORS, TOPOLOGIES),
    *(PRIORITIES, WORKLOADS, TRAIN_JOBS, RUNTIMES, POLICIES, BINDINGS),
    *(APPLICATIONS, APPLICATION_SETS, PROJECTS, ROLES, ROLE_BINDINGS),
    *(NODE_POLICIES, NODE_STATES, NETWORKS, IB_NETWORKS, POOL_CONFIGS, ADDRESS_POOLS),
    *(MACHINE_POOLS, MACHINE_CONFIGS, KUBELET_CONFIGS, NUMA),
)
"""All that is read. The CRDs come first: they say which versions of the others are served."""


def resource_of(body: object, table: Sequence[Resource] = TABLE) -> Resource | None:
    """Return the kind of an object; None if it is not in a table."""
    if not isinstance(body, dict):
        return None
    return next((each for each in table if each.has(body)), None)
