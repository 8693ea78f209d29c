"""Compose the names of objects: only here, so that budgets are checked on the final names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LABEL_BUDGET = 63
"""Kubernetes label values, RFC 1123 labels and pod names end here."""

JOB_ACCOUNT = "trainer"
"""Service account that every rank of a job runs as, in each team's namespace."""

JOB_LABEL, MPI_JOB_LABEL = "jobset.sigs.k8s.io/jobset-name", "training.kubeflow.org/job-name"
"""Labels that every pod of a job has, of a TrainJob and of an MPIJob; admission reserves them."""

ADMITTED_LABEL = "kueue.x-k8s.io/podset"
"""Label that Kueue gives to every pod of a job that it admitted
(kubernetes-sigs/kueue:pkg/controller/jobframework/reconciler.go@v0.16.2)."""

JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"
"""Kubernetes' own account that creates the pods of Jobs
(kubernetes/kubernetes:pkg/controller/controller_utils.go@v1.36.3)."""

RANK_POD = "-(launcher|node)-0-[0-9]+-[bcdfghjklmnpqrstvwxz2456789]{5}$"
"""End of the name of a rank's pod: JobSet's ``<job>-<role>-0-<index>-``, and five letters that
Kubernetes draws."""

SYSTEM_NAMESPACE = "trainyard-system"
"""Holds the parameters of the admission policies and the clean-up of finished jobs; no tenant has a
role in it."""

DEFAULT_QUEUE = "default"
"""LocalQueue that Kueue names in a job without a queue's label, where the namespace has one
(kubernetes-sigs/kueue:pkg/controller/jobframework/defaults.go@v0.16.2)."""

_RESERVED_QUEUES = frozenset({"cpu", "gpu", DEFAULT_QUEUE, "openshift-ai"})
"""LocalQueues that each namespace has, and the one that prerequisites.md gives OpenShift AI."""

FINISHED_JOBS = "finished-jobs"
"""CronJob that deletes finished jobs, its service account, and the RoleBinding in each team's
namespace."""

FINISHED_JOBS_ROLE = "trainyard-finished-jobs"
"""ClusterRole of that service account."""

DEBUGGER_ROLE = "trainyard-team-debugger"
"""ClusterRole of who may run commands in the pods of a team's jobs."""

OWN_RUNTIMES_ROLE = "trainyard-team-runtimes"
"""ClusterRole of who may create TrainingRuntimes in a team's namespace."""

CATALOG_VIEWER_ROLE = "trainyard-catalog-viewer"
"""ClusterRole of who reads what all teams share: runtimes, flavors, topologies, priorities."""

RUNTIME_SEPARATOR = "\n\n"
"""Between the runtimes in a namespace's limits, also where admission policies split them: Git
merges changes of two lines only if an unchanged one is between them."""

TENANT_OBJECTS = "trainyard-tenant-objects"
"""The admission policy over what tenants write."""

NETWORK_POLICIES = ("default-deny", "dns", "jobs", "metrics", "mpijobs", "workspaces")
"""Names of NetworkPolicies in a team's namespace, beside those of egress rules."""

_EGRESS = "egress-"

RESERVED_PREFIX = "trainyard-"
"""No tenant may give a name that begins so, whether the tree has it yet or not.

A new NetworkPolicy of the tree must begin so: a running job could have any other name.
"""

TEAM_NETWORK_POLICIES = "trainyard-network-policies"
"""The admission policy over NetworkPolicies in the teams' namespaces."""

ADOPTED_CLASS = "trainyard-adopted"
"""Storage class of adopted volumes; admission lets only the delivery claim it."""

RESERVED_TEAMS = frozenset(
    {"admin", "argocd", "default", "platform", "samples", "system", "trainyard"}
)

DEVICES = frozenset(
    {
        "aux",
        "con",
        "nul",
        "prn",
        *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)),
    }
)
"""Names that Windows gives to devices, with any ending; no file or folder can have them there."""


TEAM_PREFIX = "team-"
"""Of a team's namespace, unless its profile states another name: it keeps them apart from kube-*,
openshift-* and what others own."""

DEFAULT_NAMESPACE = "default"
"""Of pods whose manifests name none."""


def owner_of_namespace(name: str) -> str:
    """Return who, beside the platform, creates pods in a namespace; empty if nobody does."""
    if name == DEFAULT_NAMESPACE:
        return "everyone"
    return "a team" if name.startswith(TEAM_PREFIX) else ""


def namespace(team: str, space: str = "") -> str:
    """Return a team's namespace, or that of one of its further spaces."""
    return f"{TEAM_PREFIX}{team}-{space}" if space else f"{TEAM_PREFIX}{team}"


def namespaces(team: str, fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the namespace of each space of a team's profile; its own is that without a name."""
    spaces = {"": fields, **fields.get("spaces", {})}
    return {name: space.get("namespace") or namespace(team, name) for name, space in spaces.items()}


def short(namespace: str) -> str:
    """Return a namespace's part of the names of objects that are made for it."""
    return namespace.removeprefix(TEAM_PREFIX)


def catalog_viewers(team: str) -> str:
    """Return the binding by which all who have a role in a team read the catalog."""
    return f"{CATALOG_VIEWER_ROLE}-{team}"


def is_reserved_queue(name: str) -> bool:
    """Return whether no profile may give a LocalQueue a name."""
    return name in _RESERVED_QUEUES or name.startswith(RESERVED_PREFIX)


def cluster_queue(team: str, node_class: str) -> str:
    """Return the ClusterQueue of a team for one class of node (``gpu`` or ``cpu``)."""
    return f"{team}-{node_class}"


def runtime(name: str, version: int, nodes: str, owner: str = "") -> str:
    """Return the ClusterTrainingRuntime of a runtime version.

    Args:
        name: of the runtime, without version.
        version: of it.
        nodes: what it runs on: a hardware profile, a class of node, a part of a node.
        owner: the namespace whose networks it attaches to, where they have names of their own.
    """
    return "-".join(filter(None, (f"{name}-v{version}-{nodes}", short(owner))))


def rail_resource(stem: str, rail: int) -> str:
    """Return the SR-IOV resource of a rail, without prefix.

    Letters, digits and inner underscores only: what sriov-network-operator v1.6.0's webhook and
    later ones admit.
    """
    return f"{stem.replace('-', '_')}_rail_{rail}"


def network(fabric: str, rail: int, namespace: str = "") -> str:
    """Return the NetworkAttachmentDefinition of a rail.

    Args:
        fabric: of the rail; without a namespace the attachment has the same name in every team's.
        rail: its number.
        namespace: where the SR-IOV operator writes it, whose own objects for all namespaces stand
            in one.
    """
    return f"{namespace}-{fabric}-rail-{rail}" if namespace else f"{fabric}-rail-{rail}"


def address_pool(team: str, fabric: str, rail: int) -> str:
    """Return the pool that a team's addresses on a rail come from, in all of its namespaces."""
    return f"{team}-{fabric}-rail-{rail}"


def node_policy(pool: str, rail: int) -> str:
    """Return the SriovNetworkNodePolicy of a rail on a node pool."""
    return f"{pool}-rail-{rail}"


def volume(cluster: str, namespace: str, storage: str) -> str:
    """Return the PersistentVolume of a claim on NFS; it is cluster-scoped and has all names."""
    return f"{cluster}-{short(namespace)}-{storage}"


def application(cluster: str, part: str) -> str:
    """Return the AppProject and Application of a sync unit; Argo CD may serve several clusters."""
    return f"{cluster}-{part}"


def job_limits(namespace: str) -> str:
    """Return the ConfigMap and binding that hold the limits on a namespace's TrainJobs."""
    return f"trainjob-limits-{short(namespace)}"


def own_runtimes(namespace: str) -> str:
    """Return the binding of the policy on a namespace's TrainingRuntimes."""
    return f"own-runtimes-{short(namespace)}"


def copies_of(runtime: str) -> str:
    """Return the binding of the policy on copies of a ClusterTrainingRuntime."""
    return f"copies-of-{runtime}"


def job_help(namespace: str) -> str:
    """Return the binding of the policy that keeps a namespace's TrainJobs from hanging."""
    return f"trainjob-help-{short(namespace)}"


def mpi_job_limits(namespace: str) -> str:
    """Return the binding that applies the limits to a namespace's MPIJobs."""
    return f"mpijob-limits-{short(namespace)}"


def mpi_job_end(namespace: str) -> str:
    """Return the binding that warns of the last day of a namespace's MPIJobs."""
    return f"mpijob-end-{short(namespace)}"


def staged(binding: str, stage: str) -> str:
    """Return the name of a binding of a policy for the teams at a stage."""
    return f"{binding}-{stage}"


def of_teams(binding: str) -> str:
    """Return the name of a binding of a policy for teams, on a cluster that spares others."""
    return f"{binding}-of-teams"


def queued(binding: str) -> str:
    """Return the name of a binding of a policy for the jobs of teams that it does not hold yet."""
    return f"{binding}-of-jobs"


def egress_policy(rule: str = "*") -> str:
    """Return the NetworkPolicy of an egress rule; a pattern for that of any."""
    return f"{_EGRESS}{rule}"


def monitor(source: str) -> str:
    """Return the ServiceMonitor or PodMonitor of a component."""
    return f"trainyard-{source}"


def dashboard(name: str) -> str:
    """Return the object of a dashboard."""
    return f"trainyard-dashboard-{name}"


def rules(family: str) -> str:
    """Return the PrometheusRule of a family of alerts."""
    return f"trainyard-{family}"


def sample(team: str, file: str) -> str:
    """Return the name of the TrainJob to copy, from the name of its file in the team's folder."""
    return f"{team}-{file}"
