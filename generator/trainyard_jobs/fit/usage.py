"""What is in use on a cluster, from a list of its objects as ``kubectl get -o json`` prints it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.model.lookup import mapping, mappings, value_at
from trainyard.model.quantity import in_base_units
from trainyard.model.workload import has_quota, reserved_at, usage_of
from trainyard_jobs.fit.cohorts import Amount, queue_node

Body = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"
_NO_PHASE = "Pending"
"""Phase of a claim that has no status yet."""
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
        claims: (namespace, name) of a PersistentVolumeClaim -> its phase; none when it lists none.
    """

    queues: Mapping[str, Mapping[Amount, int]] = field(default_factory=dict)
    running: tuple[Running, ...] = ()
    quotas: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    has_jobs: bool = False
    stopped: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[tuple[str, str], str] = field(default_factory=dict)


def snapshot_of(bodies: Iterable[Body]) -> Snapshot:
    """Return what objects of a cluster show as used; other kinds are passed over.

    Args:
        bodies: ClusterQueues, PersistentVolumeClaims, ResourceQuotas and Workloads.

    Raises:
        ArithmeticError, LookupError, TypeError, ValueError: an object is none that a cluster has.
    """
    queues: dict[str, dict[Amount, int]] = {}
    stopped: dict[str, str] = {}
    workloads: list[Body] = []
    quotas: dict[tuple[str, str], Body] = {}
    known = list(bodies)
    for body in known:
        kind, (namespace, name) = body.get("kind"), _named(body)
        if kind == "ClusterQueue":
            # Kueue writes it with the first status.
            if value_at(body, "status.flavorsReservation") is not None:
                queues[queue_node(name)] = dict(_reserved(body))
            if why := _stopped(body):
                stopped[queue_node(name)] = why
        elif kind == "Workload":
            workloads.append(body)
        elif kind == "ResourceQuota":
            quotas[namespace, name] = mapping(body, "status", "used")
    running = map(_running, filter(has_quota, workloads))
    return Snapshot(queues, tuple(running), quotas, bool(workloads), stopped, dict(_claims(known)))


def _claims(bodies: Iterable[Body]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield namespace and name of each claim, and its phase."""
    for body in bodies:
        if body.get("kind") == "PersistentVolumeClaim":
            yield _named(body), str(value_at(body, "status.phase") or _NO_PHASE)


def _named(body: Body) -> tuple[str, str]:
    metadata = mapping(body, "metadata")
    return str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def _condition(body: Body, kind: str) -> Body:
    """Return the condition of a kind; an empty one where an object has none."""
    for condition in mappings(body, "status", "conditions"):
        if condition.get("type") == kind:
            return condition
    return {}


def _stopped(queue: Body) -> str:
    """Return why a ClusterQueue admits nothing; empty when it does.

    Source: kubernetes-sigs/kueue:pkg/cache/scheduler/clusterqueue.go@v0.19.2 (updateQueueStatus).
    """
    policy = value_at(queue, "spec.stopPolicy") or "None"
    if policy != "None":
        return f"its stopPolicy is {policy}"
    active = _condition(queue, "Active")
    is_stopped = active.get("status") == "False"
    return str(active.get("message") or active.get("reason")) if is_stopped else ""


def _reserved(queue: Body) -> Iterator[tuple[Amount, int]]:
    """Yield what the jobs of a ClusterQueue use; Kueue counts a job as soon as it has quota."""
    for flavor in mappings(queue, "status", "flavorsReservation"):
        for resource in mappings(flavor, "resources"):
            name = str(resource.get("name"))
            total = in_base_units(name, str(resource.get("total", "0")))
            yield (str(flavor.get("name")), name), total


def _running(workload: Body) -> Running:
    nodes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for assignment in mappings(workload, "status", "admission", "podSetAssignments"):
        used = mapping(assignment, "resourceUsage")
        pods, places = max(1, int(assignment.get("count") or 1)), list(_places(assignment))
        for name in mapping(assignment, "flavors"):
            total = in_base_units(name, str(used.get(name, "0")))
            for node, count in places:
                nodes[node][name] += total * count // pods
    queue = str(value_at(workload, "status.admission.clusterQueue"))
    priority = int(value_at(workload, "spec.priority") or 0)
    job = "/".join(_named(workload))
    usage, since = usage_of(workload), reserved_at(workload)
    return Running(job, queue_node(queue), priority, usage, nodes, since)


def _places(assignment: Body) -> Iterator[tuple[str, int]]:
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


def _values(level: Body, size: int) -> list[str]:
    """Return the names of the domains of a slice at one level."""
    if level.get("universal") is not None:
        return [str(level["universal"])] * size
    names = mapping(level, "individual")
    prefix, suffix = str(names.get("prefix") or ""), str(names.get("suffix") or "")
    return [f"{prefix}{root}{suffix}" for root in names.get("roots") or []]


def _counts(part: Body, size: int) -> list[int]:
    """Return the pods in each domain of a slice."""
    counts = mapping(part, "podCounts")
    if counts.get("universal") is not None:
        return [int(counts["universal"])] * size
    return list(map(int, counts.get("individual") or []))
