"""A job as Kueue keeps it: what a Workload says of its quota, and of what it asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.model.lookup import mapping, mappings, text, value_at
from trainyard.model.quantity import in_base_units

Body = Mapping[str, Any]
Amounts = dict[tuple[str, str], int]
"""(flavor, resource) -> base units."""

GROUP = "kueue.x-k8s.io"
VERSIONS = (f"{GROUP}/v1beta1", f"{GROUP}/v1beta2")
TRAINJOB = ("trainer.kubeflow.org/v1alpha1", "TrainJob")
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}", re.ASCII)
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[0-9.:Z+-]{1,20}", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Workload:
    """A job that has quota or waits for it.

    Args:
        namespace: of the job.
        kind, job: of what the Workload is made for; its own where nothing owns it.
        local_queue: that it names.
        queue: ClusterQueue that gave it quota; empty while it waits.
        since: time at which it got its quota; empty while it waits.
        priority_class: empty for none.
        usage: what it has; nothing while it waits.
        asks: resource -> base units of each set of its pods, as Kueue counted them; nothing where
            Kueue has not yet considered a waiting job.
        runtime: name of its ClusterTrainingRuntime; empty for none, None where it is not known.
    """

    namespace: str
    kind: str
    job: str
    local_queue: str
    queue: str
    since: str
    priority: int
    priority_class: str
    usage: Mapping[tuple[str, str], int]
    asks: tuple[Mapping[str, int], ...]
    runtime: str | None

    @property
    def has_quota(self) -> bool:
        """Return whether it runs, or is about to."""
        return bool(self.queue)

    @property
    def flavors(self) -> frozenset[str]:
        """The pools whose nodes it has."""
        return frozenset(flavor for flavor, _ in self.usage)


@dataclass(frozen=True, slots=True)
class Dump:
    """The jobs of one cluster, from a file.

    Args:
        file: its name, for messages.
        workloads: that have not finished, and that nobody has deactivated.
    """

    file: str
    workloads: tuple[Workload, ...]


def workload_of(body: Body, runtimes: Mapping[tuple[str, str], str]) -> Workload:
    """Return what a Workload says, in either version of the API.

    Args:
        body: the object.
        runtimes: namespace and name of a TrainJob -> its ClusterTrainingRuntime, or empty.

    Raises:
        ValueError: it is none that an API server would give.
    """
    namespace, name = named(body)
    kind, job = _owner(body, name)
    queue, since, usage = _admission(body)
    return Workload(
        namespace=namespace,
        kind=kind,
        job=job,
        local_queue=text(body, "spec", "queueName"),
        queue=queue,
        since=since,
        priority=_whole(value_at(dict(body), "spec.priority")),
        priority_class=text(body, "spec", "priorityClassRef", "name")
        or text(body, "spec", "priorityClassName"),
        usage=usage,
        asks=tuple(_asked(body)),
        runtime=runtimes.get((namespace, job)) if kind == TRAINJOB[1] else "",
    )


def _admission(body: Body) -> tuple[str, str, Amounts]:
    """Return the queue, the time and the amounts of a job's quota; nothing while it waits."""
    if not has_quota(body):
        return "", "", {}
    queue, since = text(body, "status", "admission", "clusterQueue"), reserved_at(body)
    if not _NAME.fullmatch(queue):
        raise ValueError("status.admission.clusterQueue is not the name of a queue")
    if since and not _TIME.fullmatch(since):
        raise ValueError("lastTransitionTime of QuotaReserved is not a time")
    return queue, since, usage_of(body)


def named(body: Body) -> tuple[str, str]:
    """Return the namespace and name of an object.

    Raises:
        ValueError: it has none that an API server would accept.
    """
    found = text(body, "metadata", "namespace"), text(body, "metadata", "name")
    if not all(map(_NAME.fullmatch, found)):
        raise ValueError("metadata has no namespace and name of an object")
    return found


def has_quota(body: Body) -> bool:
    """Return whether a Workload has quota and has not finished."""
    return bool(mapping(body, "status", "admission")) and not is_finished(body)


def is_finished(body: Body) -> bool:
    """Return whether a job has ended."""
    return any(
        (each.get("type"), each.get("status")) == ("Finished", "True")
        for each in mappings(body, "status", "conditions")
    )


def reserved_at(body: Body) -> str:
    """Return the time at which a job got its quota; empty where it is not known."""
    for condition in mappings(body, "status", "conditions"):
        if condition.get("type") == "QuotaReserved":
            return str(condition.get("lastTransitionTime") or "")
    return ""


def usage_of(body: Body) -> Amounts:
    """Return what a job with quota uses.

    Raises:
        ValueError: an amount is not a quantity, or negative.
    """
    usage: Amounts = {}
    for assignment in mappings(body, "status", "admission", "podSetAssignments"):
        used = mapping(assignment, "resourceUsage")
        for resource, flavor in mapping(assignment, "flavors").items():
            amount = _amount(resource, used.get(resource, "0"))
            key = (str(flavor), resource)
            usage[key] = usage.get(key, 0) + amount
    return usage


def _amount(resource: str, value: object) -> int:
    amount = in_base_units(resource, str(value))
    if amount < 0:
        raise ValueError(f"the amount of {resource[:60]} is negative")
    return amount


def _asked(body: Body) -> list[dict[str, int]]:
    return [
        {
            resource: _amount(resource, amount)
            for resource, amount in mapping(each, "resources").items()
        }
        for each in mappings(body, "status", "resourceRequests")
    ]


def _owner(body: Body, name: str) -> tuple[str, str]:
    """Return the kind and name of what a Workload is made for."""
    owners = mappings(body, "metadata", "ownerReferences")
    first = next((each for each in owners if each.get("controller") is True), None)
    owner = first or (owners[0] if owners else {"kind": "Workload", "name": name})
    kind, job = text(owner, "kind"), text(owner, "name")
    if not (_KIND.fullmatch(kind) and _NAME.fullmatch(job)):
        raise ValueError("metadata.ownerReferences has no kind and name of an object")
    return kind, job


def _whole(value: Any) -> int:
    if value is None:
        return 0
    if not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise ValueError("spec.priority is not a priority")
    return value
