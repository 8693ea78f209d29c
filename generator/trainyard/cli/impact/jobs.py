"""Describe the jobs of a dump that a change hits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from trainyard.change.impact.dumped import JobsChange
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.running import JobCause, JobHit
from trainyard.model.quantity import counted


def running_lines(cluster: ClusterImpact) -> Iterator[str]:
    """Yield each running job that is hit, those of the same causes together; then the others."""
    if cluster.jobs is None:
        return
    hits = sorted(cluster.jobs.hits, key=_causes)
    for causes, group in groupby(hits, _causes):
        for hit in group:
            yield f"! {_name(hit.namespace, hit.job, hit.kind)}: {_size(hit)}"
        for each in causes:
            yield f"  {each.outcome}, because: {each.cause}"
    yield from _others(cluster.jobs)


def _others(jobs: JobsChange) -> Iterator[str]:
    """Yield how many jobs are not hit, and how many belong to no team."""
    left = jobs.running - len(jobs.hits)
    if not jobs.running:
        yield "  no job of a team runs"
    elif left:
        others = "other running job" if jobs.hits else "running job"
        yield f"  not hit: {counted(left, others)} of teams"
    if jobs.foreign:
        yield f"  not judged: {counted(jobs.foreign, 'job')} in namespaces of no team"


def stuck_lines(cluster: ClusterImpact) -> Iterator[str]:
    """Yield the LocalQueues whose jobs start no more, then each such job of a dump."""
    for queue in cluster.left_queues:
        yield f"! jobs in LocalQueue {queue} wait until there is a queue of that name again"
    for each in cluster.jobs.stuck if cluster.jobs else ():
        yield f"! {_name(each.namespace, each.job, each.kind)} {each.reason}"


def _causes(hit: JobHit) -> tuple[JobCause, ...]:
    return hit.causes


def _name(namespace: str, job: str, kind: str) -> str:
    return f"{kind} {namespace}/{job}"


def _size(hit: JobHit) -> str:
    """Return what a job has, and since when."""
    gpus = f"{counted(hit.gpus, 'GPU')} on " if hit.gpus else ""
    pools = f" of {', '.join(hit.pools)}" if hit.pools else ""
    since = f", with quota since {hit.since}" if hit.since else ""
    return f"{gpus}{counted(hit.nodes, 'node')}{pools}{since}"
