"""Workloads and TrainJobs as `kubectl get -o json` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NODE = {"cpu": "100", "memory": "900Gi", "nvidia.com/gpu": "8"}
"""What a job has of each node."""
SINCE = "2026-11-20T08:00:00Z"


def running(
    job: str,
    nodes: int,
    namespace: str = "team-nlp",
    *,
    queue: str = "",
    pool: str = "dgx-h100",
    priority: tuple[str, int] = ("", 0),
    since: str = SINCE,
    kind: str = "TrainJob",
    version: str = "v1beta2",
    each: Mapping[str, str] = NODE,
) -> dict[str, Any]:
    """Return the Workload of a job that has quota on some nodes."""
    queue = queue or f"{namespace.removeprefix('team-')}-gpu"
    amounts = {name: _times(amount, nodes) for name, amount in each.items()}
    assignment = {"name": "node", "count": nodes, "flavors": dict.fromkeys(amounts, pool)}
    assignment |= {"resourceUsage": amounts}
    reserved = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": since}
    admitted = {**reserved, "type": "Admitted"}
    status = {
        "admission": {"clusterQueue": queue, "podSetAssignments": [assignment]},
        "conditions": [reserved, admitted],
    }
    return _workload((namespace, kind, job), version, priority, status)


def waiting(
    job: str,
    nodes: int,
    namespace: str = "team-nlp",
    *,
    version: str = "v1beta2",
    each: Mapping[str, str] = NODE,
) -> dict[str, Any]:
    """Return the Workload of a job that Kueue has considered, and that waits."""
    asked = {name: _times(amount, nodes) for name, amount in each.items()}
    pending = {"type": "QuotaReserved", "status": "False", "lastTransitionTime": SINCE}
    status = {
        "conditions": [pending],
        "resourceRequests": [{"name": "node", "resources": asked}],
    }
    return _workload((namespace, "TrainJob", job), version, ("", 0), status)


def train_job(job: str, runtime: str, namespace: str = "team-nlp") -> dict[str, Any]:
    """Return the TrainJob behind a Workload."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"namespace": namespace, "name": job},
        "spec": {"runtimeRef": {"name": runtime}},
    }


def listed(*bodies: dict[str, Any]) -> dict[str, Any]:
    """Return objects as one list."""
    return {"apiVersion": "v1", "kind": "List", "items": list(bodies)}


def _workload(
    names: tuple[str, str, str], version: str, priority: tuple[str, int], status: dict[str, Any]
) -> dict[str, Any]:
    namespace, kind, job = names
    name, value = priority
    reference = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name}
    classes = {"priorityClassRef": reference, "priority": value}
    if version == "v1beta1":
        classes = {"priorityClassName": name, "priority": value}
    return {
        "apiVersion": f"kueue.x-k8s.io/{version}",
        "kind": "Workload",
        "metadata": {
            "namespace": namespace,
            "name": f"{kind.lower()}-{job}-1a2b3",
            "ownerReferences": [{"kind": kind, "name": job, "controller": True}],
        },
        "spec": {"queueName": "gpu", **(classes if name else {"priority": value})},
        "status": status,
    }


def _times(amount: str, nodes: int) -> str:
    digits = amount.rstrip("Gi")
    return f"{int(digits) * nodes}{amount.removeprefix(digits)}"
