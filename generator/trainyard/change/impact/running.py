"""Name the running jobs that a change hits, of those that a dump of the cluster lists.

The disruptions say whose jobs a change may hit; the dump says which jobs these are. Of a quota it
also says who is beyond it: Kueue reclaims nothing of a queue that is within its own.
Source: kubernetes-sigs/kueue:pkg/scheduler/preemption/classical/candidate_generator.go and
pkg/scheduler/preemption/common/ordering.go@v0.19.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from trainyard.change.impact.disruption import Disturbed, Hit
from trainyard.change.impact.places import passed, pools_of
from trainyard.change.impact.reaction import Effect
from trainyard.change.objects import Sides
from trainyard.model.identity import Identity
from trainyard.model.lookup import mappings, text
from trainyard.model.pool import Pool
from trainyard.model.quantity import in_base_units
from trainyard.model.workload import Workload


@dataclass(frozen=True, slots=True, order=True)
class JobCause:
    """Why a job is hit.

    Args:
        effect: name of the disruption's effect.
        outcome: what becomes of the job, in words.
        cause: that of the disruption.
    """

    effect: str
    outcome: str
    cause: str


@dataclass(frozen=True, slots=True)
class JobHit:
    """A running job that a change hits.

    Args:
        kind, job: of what the Workload is made for.
        pools: whose nodes it has, sorted.
        nodes: that it fills, in sum; a part of one counts as one.
        since: time at which it got its quota; empty where the file lacks it.
        causes: the worst first.
    """

    team: str
    namespace: str
    kind: str
    job: str
    pools: tuple[str, ...]
    nodes: int
    gpus: int
    since: str
    causes: tuple[JobCause, ...]


_OUTCOMES = {
    Effect.UNCOUNTS: "runs on outside of the quota",
    Effect.RECLAIMS: "may be evicted",
    Effect.EVICTS: "is evicted",
    Effect.UNLOCKS: "its nodes may be drained or rebooted",
    Effect.DRAINS: "its nodes are drained",
    Effect.REBOOTS: "its nodes are rebooted",
    Effect.DELETES: "is deleted with its namespace",
}


@dataclass(frozen=True, slots=True)
class _Now:
    """The cluster, and the jobs that run there.

    Args:
        beyond: jobs that Kueue may reclaim as their queue is beyond its quota after the change.
    """

    sides: Sides
    pools: Mapping[str, Pool]
    beyond: Sequence[Workload]


def job_hits(
    sides: Sides,
    found: Iterable[Disturbed],
    running: Sequence[Workload],
    teams: Mapping[str, str],
) -> tuple[JobHit, ...]:
    """Return the running jobs that are hit, sorted.

    Args:
        sides: of the cluster.
        found: what the change disturbs, the worst first.
        running: jobs with quota in namespaces of teams.
        teams: namespace -> team, before the change.
    """
    disturbed = tuple(found)
    pools = {**pools_of(sides.new), **pools_of(sides.old)}
    now = _Now(sides, pools, tuple(_beyond(sides, running)))
    hits = []
    for job in running:
        team = teams[job.namespace]
        if causes := tuple(_causes(now, disturbed, job, team)):
            nodes, gpus = _size(pools, job)
            hits.append(
                JobHit(
                    team=team,
                    namespace=job.namespace,
                    kind=job.kind,
                    job=job.job,
                    pools=tuple(sorted(job.flavors)),
                    nodes=nodes,
                    gpus=gpus,
                    since=job.since,
                    causes=causes,
                )
            )
    return tuple(sorted(hits, key=lambda each: (each.namespace, each.job, each.kind, each.since)))


def _causes(
    now: _Now, disturbed: Iterable[Disturbed], job: Workload, team: str
) -> Iterator[JobCause]:
    for each in disturbed:
        outcomes = (_outcome(now, hit, job, team) for hit in each.hits)
        if outcome := next(filter(None, outcomes), ""):
            disruption = each.disruption
            yield JobCause(disruption.effect.name.lower(), outcome, disruption.cause)


def _outcome(now: _Now, hit: Hit, job: Workload, team: str) -> str:
    """Return what becomes of a job by an edit, in words; empty where it runs on."""
    if hit.effect >= Effect.UNLOCKS and job.flavors & hit.touched.pools:
        return _OUTCOMES[hit.effect]
    if hit.edited.change.identity.kind == "NetworkPolicy":
        return _without_policy(hit, job)
    reached = hit.touched.quotas & {(team, flavor) for flavor in job.flavors}
    return _words(hit, job) if reached and _is_meant(now, hit, job) else ""


def _words(hit: Hit, job: Workload) -> str:
    outcome = _OUTCOMES.get(hit.effect, "")
    if hit.edited.change.identity.kind == "ClusterTrainingRuntime" and job.runtime is None:
        return f"{outcome} if this is its runtime"
    return outcome


def _without_policy(hit: Hit, job: Workload) -> str:
    """Return that an MPIJob fails whose ranks no policy joins any more."""
    is_there = job.namespace == hit.edited.change.identity.namespace
    return "fails" if is_there and job.kind == "MPIJob" else ""


def _is_meant(now: _Now, hit: Hit, job: Workload) -> bool:
    """Return whether an edit that reaches jobs of a team on a pool is about this job."""
    identity = hit.edited.change.identity
    local = identity.namespace, identity.name
    named = {
        "Namespace": job.namespace == identity.name,
        "LocalQueue": (job.namespace, job.local_queue) == local,
        "ClusterTrainingRuntime": job.runtime in {None, identity.name},
    }
    if identity.kind in named:
        return named[identity.kind]
    if identity.kind == "WorkloadPriorityClass":
        return _falls_behind(now.sides, identity, job.priority_class)
    if _is_of_queue(hit):
        return job.queue == identity.name
    return hit.effect is not Effect.RECLAIMS or _is_among(job, now.beyond)


def _is_of_queue(hit: Hit) -> bool:
    """Return whether an edit is about every job of a ClusterQueue, within its quota or not."""
    path = hit.edited.field.path if hit.edited.field else ""
    return path.startswith(("spec.stopPolicy", "spec.preemption"))


def _is_among(job: Workload, jobs: Iterable[Workload]) -> bool:
    return any(each is job for each in jobs)


def _falls_behind(sides: Sides, changed: Identity, name: str) -> bool:
    """Return whether jobs of a priority may be below another job that they were not below before.

    Those of the changed one get their new value one after the other.
    """
    if name == changed.name:
        return True
    own = Identity(changed.kind, "", name)
    return name in passed(sides, changed) and _value(sides, own) < _value(sides, changed)


def _value(sides: Sides, priority: Identity) -> int:
    return int(sides.after[priority].body["value"])


def _beyond(sides: Sides, running: Iterable[Workload]) -> Iterator[Workload]:
    """Yield the jobs that Kueue may reclaim; all of a queue that leaves the tree."""
    queues: dict[str, list[Workload]] = defaultdict(list)
    for job in running:
        queues[job.queue].append(job)
    for name, jobs in queues.items():
        quota = _nominal(sides, name)
        yield from jobs if quota is None else _until_within(quota, jobs)


def _until_within(
    quota: Mapping[tuple[str, str], int], jobs: Iterable[Workload]
) -> Iterator[Workload]:
    """Yield the jobs that Kueue takes until a queue is within its own quota.

    Those of the lowest priority come first, and of these the newest; none that has nothing of what
    is beyond the quota.
    """
    usage: Counter[tuple[str, str]] = Counter()
    for job in jobs:
        usage.update(job.usage)
    for job in _in_order(jobs):
        if any(usage[key] > quota.get(key, 0) for key in job.usage):
            usage.subtract(job.usage)
            yield job


def _in_order(jobs: Iterable[Workload]) -> list[Workload]:
    newest = sorted(jobs, key=lambda each: each.since or "z", reverse=True)
    return sorted(newest, key=lambda each: each.priority)


def _nominal(sides: Sides, name: str) -> dict[tuple[str, str], int] | None:
    """Return a queue's own quota after a change; None where it leaves the tree."""
    queue = sides.after.get(Identity("ClusterQueue", "", name))
    if queue is None:
        return None
    nominal = {}
    for group in mappings(queue.body, "spec", "resourceGroups"):
        for flavor in mappings(group, "flavors"):
            for each in mappings(flavor, "resources"):
                resource = text(each, "name")
                amount = in_base_units(resource, str(each["nominalQuota"]))
                nominal[text(flavor, "name"), resource] = amount
    return nominal


def _size(pools: Mapping[str, Pool], job: Workload) -> tuple[int, int]:
    """Return the nodes that a job fills, and its GPUs."""
    parts: dict[str, Fraction] = defaultdict(Fraction)
    gpus = 0
    for (flavor, resource), amount in job.usage.items():
        pool = pools.get(flavor)
        if pool is None:
            continue
        node = pool.allocatable.get(resource, 0)
        parts[flavor] = max(parts[flavor], Fraction(amount, node) if node else Fraction(0))
        if pool.hardware.gpu and resource == pool.hardware.gpu.resource:
            gpus += amount
    return sum(map(ceil, parts.values())), gpus
