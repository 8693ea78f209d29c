"""What is in use on a cluster, from a list of its objects as ``kubectl get -o json`` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.model.lookup import mapping, mappings, value_at
from trainyard.model.quantity import in_base_units
from trainyard.model.workload import has_quota, reserved_at, usage_of
from trainyard_jobs.fit.cohorts import Amount, queue_node

HOSTNAME = "kubernetes.io/hostname"
_MOST_DOMAINS = 100_000
"""Of a slice, as the custom resource has it."""


@dataclass(frozen=True, slots=True)
class Running:
    """A job that has quota.

    Args:
        job: namespace and name of its Workload.
        queue: node of its ClusterQueue.
        usage: in base units.
        nodes: node -> what its pods request there.
        since: time at which it got its quota.
    """

    job: str
    queue: str
    priority: int
    usage: Mapping[Amount, int]
    nodes: Mapping[str, Mapping[str, int]]
    since: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a cluster's queues, jobs and quotas use.

    Args:
        queues: node of a ClusterQueue with a status -> what it uses.
        running: jobs with quota.
        quotas: (namespace, name) of a ResourceQuota -> what is used, as quantities.
        has_jobs: whether it lists Workloads; without them nothing is known of nodes and priorities.
        stopped: node of a ClusterQueue that admits nothing -> why.
    """

    queues: Mapping[str, Mapping[Amount, int]] = field(default_factory=dict)
    running: tuple[Running, ...] = ()
    quotas: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    has_jobs: bool = False
    stopped: Mapping[str, str] = field(default_factory=dict)


def snapshot_of(bodies: list[dict[str, Any]]) -> Snapshot:
    """Return what objects of a cluster show as used; other kinds are passed over.

    Args:
        bodies: ClusterQueues, ResourceQuotas and Workloads.

    Raises:
        ArithmeticError, LookupError, TypeError, ValueError: an object is none that a cluster has.
    """
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for body in bodies:
        by_kind.setdefault(str(body.get("kind")), []).append(body)
    workloads, queues = by_kind.get("Workload", []), by_kind.get("ClusterQueue", [])
    return Snapshot(
        dict(_used(queues)),
        tuple(_running(body) for body in workloads if has_quota(body)),
        {
            _named(body): mapping(body, "status", "used")
            for body in by_kind.get("ResourceQuota", [])
        },
        bool(workloads),
        {_queue(body): why for body in queues if (why := _stopped(body))},
    )


def _named(body: dict[str, Any]) -> tuple[str, str]:
    metadata = mapping(body, "metadata")
    return str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def _queue(body: dict[str, Any]) -> str:
    return queue_node(_named(body)[1])


def _used(queues: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[Amount, int]]]:
    """Yield the usage of each ClusterQueue for which Kueue has written one."""
    for body in queues:
        if value_at(body, "status.flavorsReservation") is not None:
            yield _queue(body), dict(_reserved(body))


def _stopped(queue: dict[str, Any]) -> str:
    """Return why a ClusterQueue admits nothing; empty when it does.

    Source: kubernetes-sigs/kueue:pkg/cache/scheduler/clusterqueue.go@v0.19.2 (updateQueueStatus).
    """
    policy = value_at(queue, "spec.stopPolicy") or "None"
    if policy != "None":
        return f"its stopPolicy is {policy}"
    return next(
        (
            str(condition.get("message") or condition.get("reason"))
            for condition in mappings(queue, "status", "conditions")
            if (condition.get("type"), condition.get("status")) == ("Active", "False")
        ),
        "",
    )


def _reserved(queue: dict[str, Any]) -> Iterator[tuple[Amount, int]]:
    """Yield what the jobs of a ClusterQueue use; Kueue counts a job as soon as it has quota."""
    for flavor in mappings(queue, "status", "flavorsReservation"):
        for resource in mappings(flavor, "resources"):
            name = str(resource.get("name"))
            yield (
                (str(flavor.get("name")), name),
                in_base_units(name, str(resource.get("total", "0"))),
            )


def _running(workload: dict[str, Any]) -> Running:
    nodes: dict[str, dict[str, int]] = {}
    for assignment in mappings(workload, "status", "admission", "podSetAssignments"):
        flavors, used = mapping(assignment, "flavors"), mapping(assignment, "resourceUsage")
        amounts = {name: in_base_units(name, str(used.get(name, "0"))) for name in flavors}
        pods = max(1, int(assignment.get("count") or 1))
        for node, count in _places(assignment):
            here = nodes.setdefault(node, {})
            for name, total in amounts.items():
                here[name] = here.get(name, 0) + total * count // pods
    queue = str(value_at(workload, "status.admission.clusterQueue"))
    priority = int(value_at(workload, "spec.priority") or 0)
    job = "/".join(_named(workload))
    usage, since = usage_of(workload), reserved_at(workload)
    return Running(job, queue_node(queue), priority, usage, nodes, since)


def _places(assignment: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield each node of a topology assignment and the number of its pods.

    Source: kubernetes-sigs/kueue:apis/kueue/v1beta2/workload_types.go@v0.19.2
    (TopologyAssignmentSlice).
    """
    levels = value_at(assignment, "topologyAssignment.levels") or []
    if not levels or levels[-1] != HOSTNAME:
        return
    for part in mappings(assignment, "topologyAssignment", "slices"):
        size = int(part.get("domainCount") or 0)
        if size > _MOST_DOMAINS:
            raise ValueError(f"a slice has {size} domains")
        values = mappings(part, "valuesPerLevel")
        if values:
            yield from zip(_values(values[-1], size), _counts(part, size), strict=True)


def _values(level: dict[str, Any], size: int) -> list[str]:
    """Return the names of the domains of a slice at one level."""
    if level.get("universal") is not None:
        return [str(level["universal"])] * size
    each = mapping(level, "individual")
    prefix, suffix = str(each.get("prefix") or ""), str(each.get("suffix") or "")
    return [f"{prefix}{root}{suffix}" for root in each.get("roots") or []]


def _counts(part: dict[str, Any], size: int) -> list[int]:
    """Return the pods in each domain of a slice."""
    counts = mapping(part, "podCounts")
    if counts.get("universal") is not None:
        return [int(counts["universal"])] * size
    return [int(each) for each in counts.get("individual") or []]
