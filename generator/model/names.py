"""The only place that composes names of objects, so that each budget is checked on what the cluster will see."""

from __future__ import annotations

LABEL_BUDGET = 63
"""Kubernetes label values, RFC 1123 labels and pod names end here."""

TRAINJOB_BUDGET = 44
"""JobSet refuses a longer TrainJob: pod ``<job>-launcher-0-0-xxxxx`` must fit 63 (seen on JobSet 0.11.0)."""

JOB_ACCOUNT = "trainer"
"""Service account that every rank of a job runs as, in each team's namespace."""

SYSTEM_NAMESPACE = "trainyard-system"
"""Where the parameters of the admission policies live; no tenant has a role in it."""

RESERVED_TEAMS = frozenset({"admin", "argocd", "default", "platform", "samples", "system", "trainyard"})


def namespace(team: str) -> str:
    """Return a team's namespace; the prefix keeps it apart from kube-*, openshift-* and what others own."""
    return f"team-{team}"


def cluster_queue(team: str, node_class: str) -> str:
    """Return the ClusterQueue of a team for one class of node (``gpu`` or ``cpu``)."""
    return f"{team}-{node_class}"


def runtime(name: str, version: int, hardware: str) -> str:
    """Return the ClusterTrainingRuntime of a runtime version on a hardware profile."""
    return f"{name}-v{version}-{hardware}"


def rail_resource(hardware: str, rail: int) -> str:
    """Return the SR-IOV resource of a rail, without prefix.

    Letters, digits and inner underscores only: what sriov-network-operator v1.6.0's webhook and later ones admit.
    """
    return f"{hardware.replace('-', '_').replace('.', '_')}_rail_{rail}"


def network(hardware: str, rail: int) -> str:
    """Return the NetworkAttachmentDefinition of a rail: the same name in every team's namespace."""
    return f"{hardware}-rail-{rail}"


def node_policy(pool: str, rail: int) -> str:
    """Return the SriovNetworkNodePolicy of a rail on a node pool."""
    return f"{pool}-rail-{rail}"


def volume(cluster: str, team: str, storage: str) -> str:
    """Return the PersistentVolume that backs a team's claim on shared NFS (cluster scoped, so it names all three)."""
    return f"{cluster}-{team}-{storage}"


def application(cluster: str, part: str) -> str:
    """Return the AppProject and Application of a sync unit; Argo CD may serve several clusters."""
    return f"{cluster}-{part}"


def job_limits(team: str) -> str:
    """Return the ConfigMap and binding that hold a team's limits on TrainJobs."""
    return f"trainjob-limits-{team}"


def sample(team: str, runtime_name: str) -> str:
    """Return the name of the TrainJob to copy."""
    return f"{team}-{runtime_name}"
