"""Links from a job's LocalQueue to free nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.lookup import mapping, mappings, value_at
from trainyard.model.manifest import Manifest
from trainyard.model.queue import Queue
from trainyard_jobs.fit.assignment import (
    Queueing,
    choose,
    groups_of,
    requests_of,
    shortages_of,
)
from trainyard_jobs.fit.case import Case
from trainyard_jobs.fit.cohorts import cohorts_of, queue_node
from trainyard_jobs.fit.form import QUEUE
from trainyard_jobs.fit.limit_range import refusals
from trainyard_jobs.fit.maintenance import until_back
from trainyard_jobs.fit.placing import node_checks, present_checks
from trainyard_jobs.fit.quotas import quota_checks
from trainyard_jobs.fit.usage import Snapshot
from trainyard_jobs.fit.verdict import Check, Link, Standing


def queue_checks(case: Case) -> Iterator[Check]:
    """Yield the answers of the links from a job's queue to its nodes."""
    label = str(mapping(case.body, "metadata", "labels").get(QUEUE, ""))
    local = case.ground.objects.find("LocalQueue", label, case.namespace)
    name = str(value_at(local.body, "spec.clusterQueue")) if local else ""
    queue = case.ground.objects.find("ClusterQueue", name)
    if local is None or queue is None:
        message = f"namespace {case.namespace} has no LocalQueue `{label}` that leads to a queue"
        yield Check(Link.QUEUE, Standing.NEVER, message, _quota_place(case))
        return
    checks = [*_stopped(case, queue), *_range_checks(case)]
    checks += _coverage(case, queue)
    yield from checks
    if not any(check.standing is Standing.NEVER for check in checks):
        yield from _quota_checks(case, queue)


def _quota_place(case: Case) -> Pointer:
    return case.ground.tenant.team.at / "quota"


def _stopped(case: Case, queue: Manifest) -> Iterator[Check]:
    """Yield why a queue admits nothing, by the profiles or by what the snapshot shows."""
    snapshot = case.ground.snapshot
    state = _model(case, queue).state
    # A queue is held for nodes in maintenance too, which its quota shows.
    if not state.is_open:
        message = f"ClusterQueue {queue.name} admits no job: {state.display}"
        repair = (f"wait until that ends: `state: active` in {state.at.file}",)
        standing = Standing.WAITS
        if state.word == "draining":
            repair = (f"set `state: active` in {state.at.file}",)
            standing = Standing.NEVER
        yield Check(Link.QUEUE, standing, message, state.at, repair=repair)
        return
    if why := snapshot.stopped.get(queue_node(queue.name)) if snapshot else None:
        message = f"on the cluster ClusterQueue {queue.name} admits nothing now: {why}"
        repair = ("wait until an admin starts the queue",)
        yield Check(Link.QUEUE, Standing.WAITS, message, repair=repair)


def _range_checks(case: Case) -> Iterator[Check]:
    ranges = case.ground.objects.of("LimitRange", case.namespace)
    bodies = [manifest.body for manifest in ranges]
    for pods in case.pods:
        for refusal in refusals(pods.template, bodies):
            message = f"pods of {pods.role}: {refusal}"
            yield Check(Link.LIMIT_RANGE, Standing.NEVER, message, ranges[0].at)


def _coverage(case: Case, queue: Manifest) -> Iterator[Check]:
    """Yield each requested resource that a ClusterQueue has no quota of."""
    covered = _covered(queue.body)
    for pods in case.pods:
        for name, amount in pods.requests.items():
            if amount and name not in covered:
                message = (
                    f"pods of {pods.role} request {name}, which ClusterQueue {queue.name} lacks"
                )
                yield Check(Link.COVERAGE, Standing.NEVER, message, _quota_place(case))


def _covered(queue: dict[str, Any]) -> set[str]:
    covered: set[str] = set()
    for group in mappings(queue, "spec", "resourceGroups"):
        covered.update(map(str, group.get("coveredResources") or []))
    return covered


def _quota_checks(case: Case, manifest: Manifest) -> Iterator[Check]:
    queueing = _queueing(case, manifest)
    groups = groups_of(case.pods, counts_pods="pods" in _covered(manifest.body))
    choices = choose(queueing, groups)
    if len(choices) < len(groups):
        lost = groups[len(choices)].pods[0]
        labels = ", ".join(f"{key}={value}" for key, value in lost.selector.items())
        message = f"pods of {lost.role} need nodes with {labels}, which no flavor of the queue has"
        yield Check(Link.FLAVOR, Standing.NEVER, message, _quota_place(case))
        return
    ever = [shortage for shortage in shortages_of(choices) if shortage.ever]
    never = [*quota_checks(case, queueing, choices, ever, Standing.NEVER)]
    never += node_checks(queueing, choices)
    checks = [*until_back(_model(case, manifest), requests_of(choices), never)]
    yield from checks or present_checks(case, queueing, choices)


def _queueing(case: Case, manifest: Manifest) -> Queueing:
    cohorts = cohorts_of(case.ground.objects)
    snapshot = case.ground.snapshot or Snapshot()
    cohorts.usage = snapshot.queues
    queue = _model(case, manifest)
    pools = {flavor.name: flavor.pool.in_use for flavor in queue.flavors}
    placed = frozenset(filter(partial(_has_topology, case), pools))
    return Queueing(cohorts, snapshot, queue_node(manifest.name), pools, placed)


def _model(case: Case, manifest: Manifest) -> Queue:
    return next(queue for queue in case.ground.tenant.queues if queue.name == manifest.name)


def _has_topology(case: Case, flavor: str) -> bool:
    manifest = case.ground.objects.find("ResourceFlavor", flavor)
    return manifest is not None and bool(value_at(manifest.body, "spec.topologyName"))
