"""List what has no counterpart: jobs of other kinds, pods of others, limits that no profile has."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.adoption.amounts import shown
from trainyard.adoption.model import Crew, Mark, Pool, Remark
from trainyard.adoption.outside import gpus_of, is_queued, outside
from trainyard.adoption.queues import cells_of, cohort_of
from trainyard.adoption.sizes import has_ended, is_daemon
from trainyard.model.facts import Body, Facts, place_of
from trainyard.model.importable import JOBS, NETWORK_POLICIES, PODS, QUOTAS
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.quantity import counted
from trainyard.model.readable import CLUSTER_QUEUES, COHORTS
from trainyard.rules.preflight._kueue import fields_of

_SYSTEM = "kube-system"
_TAKEN = ("apiVersion", "fairSharing", "integrations.frameworks", "kind")
"""Keys of Kueue's configuration that the cluster's profile has."""
_USUAL = {
    "queueingStrategy": "BestEffortFIFO",
    "preemption.reclaimWithinCohort": "Any",
    "preemption.withinClusterQueue": "LowerPriority",
}
"""What each queue of the tree has; another value of the site is lost."""


def daemon_namespaces(facts: Facts, pools: Iterable[Pool], crews: Sequence[Crew]) -> list[str]:
    """Return the namespaces of daemons on the nodes of pools, without Kubernetes' own.

    The tree's policies admit daemons on these nodes only from namespaces that are listed.
    """
    nodes = {place_of(node)[1] for pool in pools for node in pool.kind.nodes}
    daemons = filter(is_daemon, facts.of(PODS))
    found = {place_of(pod)[0] for pod in daemons if text(pod, "spec", "nodeName") in nodes}
    return sorted(found.difference([_SYSTEM], *(crew.namespaces for crew in crews)))


def configuration(kueue: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield the keys of Kueue's configuration that the tree's file does not take over."""
    for key, value in fields_of(kueue):
        if not key.startswith(_TAKEN):
            why = f"{key}: {json.dumps(value)}; the tree's file takes its place"
            yield Remark(Mark.CHANGED, "Kueue's configuration", why)


def remarks(facts: Facts, crews: Sequence[Crew]) -> Iterator[Remark]:
    """Yield everything of the site that is only listed."""
    yield from _queues(facts)
    yield from _cohorts(facts)
    yield from _jobs(facts)
    spaces = {each for crew in crews for each in crew.namespaces}
    yield from _queued(facts)
    yield from outside(facts, crews)
    yield from _egress(facts, spaces)
    yield from _unlimited(facts, spaces)


def _queues(facts: Facts) -> Iterator[Remark]:
    for body in sorted(facts.of(CLUSTER_QUEUES), key=place_of):
        part = f"ClusterQueue {place_of(body)[1]}"
        spec = mapping(dict(body), "spec")
        for key in ("admissionChecks", "admissionChecksStrategy"):
            if spec.get(key):
                yield Remark(Mark.REFUSED, part, f"{key}: no queue of the tree has one")
        for key, usual in _USUAL.items():
            stated = text(spec, *key.split("."))
            if stated and stated != usual:
                yield Remark(Mark.CHANGED, part, f"{key} is {stated}, and becomes {usual}")
        yield from _orders(part, spec)


def _orders(part: str, spec: dict[str, object]) -> Iterator[Remark]:
    """Yield the order in which Kueue tries the flavors of a queue."""
    for group in mappings(spec, "resourceGroups"):
        flavors = [text(each, "name") for each in mappings(group, "flavors")]
        if len(flavors) > 1:
            order = ", ".join(flavors)
            why = f"Kueue tries {order} in this order: set `preference` of the pools"
            yield Remark(Mark.CHANGED, part, why)


def _cohorts(facts: Facts) -> Iterator[Remark]:
    for body in sorted(facts.of(COHORTS), key=place_of):
        part = f"Cohort {place_of(body)[1]}"
        for cell in cells_of(body):
            amounts = (cell.nominal, cell.borrow, cell.lend)
            amount = " / ".join(shown(cell.resource, each) for each in amounts)
            amount += f" of {cell.resource} on {cell.flavor}"
            why = f"{amount}: a cohort has no quota and no limits of its own; give it to a team"
            yield Remark(Mark.REFUSED, part, why)
    known = {place_of(body)[1] for body in facts.of(COHORTS)}
    named = sorted({cohort_of(body) for body in facts.of(CLUSTER_QUEUES)} - {"", *known})
    for name in named:
        yield Remark(Mark.KEPT, f"Cohort {name}", "only queues name it; the tree writes the object")


def _jobs(facts: Facts) -> Iterator[Remark]:
    for kind in JOBS:
        found = Counter(place_of(body)[0] for body in facts.of(kind))
        for namespace, number in sorted(found.items()):
            part = f"{kind.kind} in {namespace}"
            yield Remark(Mark.REFUSED, part, f"{number} of them: {_way(kind.kind)}")


def _way(kind: str) -> str:
    """Return what becomes of jobs of a kind."""
    converters = {"MPIJob": "mpijob", "PyTorchJob": "pytorchjob"}
    if kind in converters:
        return f"`trainyard convert {converters[kind]}` drafts TrainJobs"
    return "no queue of the tree has them, unless `frameworks` names the kind"


def _queued(facts: Facts) -> Iterator[Remark]:
    """Yield the pods with GPUs that Kueue admitted, by namespace and kind of owner."""
    found: dict[tuple[str, str], list[int]] = {}
    for pod in facts.of(PODS):
        if is_queued(pod) and (gpus := gpus_of(pod)) and not has_ended(pod):
            found.setdefault((place_of(pod)[0], _owner(pod)), []).append(gpus)
    for (namespace, owner), each in sorted(found.items()):
        what = f"{counted(len(each), 'pod')} of {owner} with {counted(sum(each), 'GPU')}"
        why = f"{what}: they go on; a job that waits is submitted again in the team's new queue"
        yield Remark(Mark.KEPT, f"pods in {namespace}", why)


def _owner(pod: Body) -> str:
    owners = mappings(dict(pod), "metadata", "ownerReferences")
    return next((text(each, "kind") for each in owners if each.get("controller")), "nobody")


def _egress(facts: Facts, spaces: Collection[str]) -> Iterator[Remark]:
    """Yield the addresses that the site's policies open: candidates, which nobody opens here."""
    for body in sorted(facts.of(NETWORK_POLICIES), key=place_of):
        namespace, name = place_of(body)
        to = [
            text(peer, "ipBlock", "cidr")
            for rule in mappings(dict(body), "spec", "egress")
            for peer in mappings(rule, "to")
        ]
        if namespace in spaces and any(to):
            part = f"NetworkPolicy {namespace}/{name}"
            shown_ = ", ".join(sorted(set(filter(None, to))))
            yield Remark(Mark.REFUSED, part, f"egress to {shown_} stays closed: see `egress`")


def _unlimited(facts: Facts, spaces: Collection[str]) -> Iterator[Remark]:
    """Yield ResourceQuotas beside queues: the tree has its own."""
    for body in sorted(facts.of(QUOTAS), key=place_of):
        namespace, name = place_of(body)
        hard = mapping(dict(body), "spec", "hard")
        if namespace in spaces and any(key.startswith("requests.") for key in hard):
            used = mapping(dict(body), "status", "used")
            parts = (f"{key} {hard[key]} (used {used.get(key, 'unknown')})" for key in sorted(hard))
            why = f"the team's quota takes its place: {', '.join(parts)}"
            yield Remark(Mark.CHANGED, f"ResourceQuota {namespace}/{name}", why)
