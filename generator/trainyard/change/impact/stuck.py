"""Name the waiting jobs that could start before a change and can't after it, by a dump."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.change.impact.quotas import most_nodes
from trainyard.change.impact.remaining import on_cluster
from trainyard.change.objects import Sides
from trainyard.model.identity import Identity
from trainyard.model.lookup import text
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.quantity import format_amount
from trainyard.model.workload import Workload


@dataclass(frozen=True, slots=True)
class StuckJob:
    """A waiting job that could start before a change, and not after it.

    Args:
        reason: a sentence that goes on from the job's name.
    """

    team: str
    namespace: str
    kind: str
    job: str
    reason: str


_Objects = Mapping[Identity, Manifest]
_Rooms = Mapping[str, Sequence[Mapping[str, int]]]
"""ClusterQueue -> on each of its pools, what its jobs can have of each resource at a time."""


def stuck_jobs(
    sides: Sides, waiting: Iterable[Workload], teams: Mapping[str, str]
) -> tuple[StuckJob, ...]:
    """Return the waiting jobs that can't start any more, sorted.

    Args:
        sides: of the cluster.
        waiting: jobs without quota in namespaces of teams.
        teams: namespace -> team, before the change.
    """
    after = on_cluster(sides).after
    rooms = _rooms(sides.old), _rooms(sides.new)
    found = []
    for job in waiting:
        reasons = (
            *_of_queues(sides.before, after, job),
            *_of_runtime(sides.before, after, job),
            *_of_size(sides.before, after, rooms, job),
        )
        if reasons:
            team = teams[job.namespace]
            found.append(StuckJob(team, job.namespace, job.kind, job.job, reasons[0]))
    return tuple(sorted(found, key=lambda each: (each.namespace, each.job, each.kind)))


def _of_queues(before: _Objects, after: _Objects, job: Workload) -> Iterator[str]:
    """Yield why a job's queues start it no more."""
    local = Identity("LocalQueue", job.namespace, job.local_queue)
    if local not in before:
        return
    if local not in after:
        yield f"waits for LocalQueue `{local.name}`, which goes"
        return
    queue = _cluster_queue(after, job)
    if queue not in after:
        yield f"waits for ClusterQueue `{queue.name}`, which goes"
        return
    old, new = (_stop_policy(side, queue) for side in (before, after))
    if old == "None" != new:
        yield f"does not start while ClusterQueue `{queue.name}` has `stopPolicy: {new}`"


def _of_runtime(before: _Objects, after: _Objects, job: Workload) -> Iterator[str]:
    runtime = Identity("ClusterTrainingRuntime", "", job.runtime or "")
    if runtime in before and runtime not in after:
        yield f"must be submitted again with another runtime: `{runtime.name}` goes"


def _of_size(
    before: _Objects, after: _Objects, rooms: tuple[_Rooms, _Rooms], job: Workload
) -> Iterator[str]:
    """Yield what a job asks for that its queue could give it before, and can't any more.

    Of a job that Kueue has not considered yet, the file has no numbers.
    """
    old, new = (
        side_rooms.get(_cluster_queue(side, job).name)
        for side, side_rooms in zip((before, after), rooms, strict=True)
    )
    if old is None or new is None or next(_excess(job, old), None):
        return
    for resource, asked, most in _excess(job, new):
        wanted, admitted = (format_amount(resource, each) for each in (asked, most))
        asks = f"asks for {wanted} of {resource}, and its queue admits {admitted} at most"
        yield f"can't start any more: it {asks}"


def _excess(job: Workload, rooms: Sequence[Mapping[str, int]]) -> Iterator[tuple[str, int, int]]:
    """Yield each resource of which a job asks for more than there is, with both amounts.

    A set of pods gets one pool, and all of them together no more than all pools have.
    """
    total: dict[str, int] = {}
    for asked in job.asks:
        for resource, amount in asked.items():
            total[resource] = total.get(resource, 0) + amount
    for resource in sorted(total, key=lambda each: ("/" not in each, each)):
        have = [room.get(resource, 0) for room in rooms]
        largest = max(asked.get(resource, 0) for asked in job.asks)
        if total[resource] > sum(have):
            yield resource, total[resource], sum(have)
        elif largest > max(have, default=0):
            yield resource, largest, max(have, default=0)


def _rooms(site: Site | None) -> _Rooms:
    if site is None:
        return {}
    most = most_nodes(site)
    return {
        queue.name: [
            {
                resource: flavor.amount(resource, most[tenant.name, flavor.name])
                for resource in flavor.pool.allocatable
            }
            for flavor in queue.flavors
            if (tenant.name, flavor.name) in most
        ]
        for tenant in site.tenants
        for queue in tenant.queues
    }


def _cluster_queue(objects: _Objects, job: Workload) -> Identity:
    """Return the ClusterQueue of a job's LocalQueue."""
    local = objects.get(Identity("LocalQueue", job.namespace, job.local_queue))
    return Identity("ClusterQueue", "", text(local.body, "spec", "clusterQueue") if local else "")


def _stop_policy(objects: _Objects, queue: Identity) -> str:
    manifest = objects.get(queue)
    return (text(manifest.body, "spec", "stopPolicy") if manifest else "") or "None"
