"""What becomes of the jobs that a dump of a cluster lists: running and waiting ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from trainyard.change.impact.disruption import Disturbed
from trainyard.change.impact.quotas import most_nodes
from trainyard.change.impact.remaining import on_cluster
from trainyard.change.impact.running import JobHit, job_hits
from trainyard.change.objects import Objects, Sides
from trainyard.diagnostics import TreeError
from trainyard.model.differences import few
from trainyard.model.identity import Identity, team_of
from trainyard.model.lookup import text
from trainyard.model.platform import Site
from trainyard.model.quantity import counted, format_amount
from trainyard.model.queue import Flavor
from trainyard.model.workload import Dump, Workload


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


def _of_queues(before: Objects, after: Objects, job: Workload) -> Iterator[str]:
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


def _of_runtime(before: Objects, after: Objects, job: Workload) -> Iterator[str]:
    runtime = Identity("ClusterTrainingRuntime", "", job.runtime or "")
    if runtime in before and runtime not in after:
        yield f"must be submitted again with another runtime: `{runtime.name}` goes"


def _of_size(
    before: Objects, after: Objects, rooms: tuple[_Rooms, _Rooms], job: Workload
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
    rooms: dict[str, list[dict[str, int]]] = {}
    for tenant in site.tenants:
        for queue in tenant.queues:
            rooms[queue.name] = []
            for flavor in queue.flavors:
                if (tenant.name, flavor.name) in most:
                    nodes = most[tenant.name, flavor.name]
                    rooms[queue.name].append(_room(flavor, nodes))
    return rooms


def _room(flavor: Flavor, nodes: Fraction) -> dict[str, int]:
    """Return what some nodes of a pool have of each resource."""
    return {resource: flavor.amount(resource, nodes) for resource in flavor.pool.allocatable}


def _cluster_queue(objects: Objects, job: Workload) -> Identity:
    """Return the ClusterQueue of a job's LocalQueue."""
    local = objects.get(Identity("LocalQueue", job.namespace, job.local_queue))
    return Identity("ClusterQueue", "", text(local.body, "spec", "clusterQueue") if local else "")


def _stop_policy(objects: Objects, queue: Identity) -> str:
    manifest = objects.get(queue)
    return (text(manifest.body, "spec", "stopPolicy") if manifest else "") or "None"


@dataclass(frozen=True, slots=True)
class JobsChange:
    """What becomes of the jobs of a cluster that a file lists.

    Args:
        running, waiting: numbers of the teams' jobs with and without quota.
        foreign: number of jobs in namespaces of no team.
        hits: running jobs that are hit, sorted.
        stuck: waiting jobs that can't start any more, sorted.
    """

    running: int
    waiting: int
    foreign: int
    hits: tuple[JobHit, ...]
    stuck: tuple[StuckJob, ...]


def jobs_change(sides: Sides, found: Iterable[Disturbed], dump: Dump) -> JobsChange:
    """Return which jobs of a dump a change hits.

    Args:
        sides: of the cluster.
        found: what the change disturbs, the worst first.
        dump: of the cluster's jobs.

    Raises:
        TreeError: the dump is of another cluster.
    """
    teams = _teams(sides.before)
    ours = [job for job in dump.workloads if job.namespace in teams]
    _need_same_cluster(sides, dump, ours)
    running = [job for job in ours if job.has_quota]
    waiting = [job for job in ours if not job.has_quota]
    return JobsChange(
        running=len(running),
        waiting=len(waiting),
        foreign=len(dump.workloads) - len(ours),
        hits=job_hits(sides, found, running, teams),
        stuck=stuck_jobs(sides, waiting, teams),
    )


def _teams(objects: Objects) -> dict[str, str]:
    """Return the namespaces of teams, each with its team."""
    spaces = {key.name: team_of(each) for key, each in objects.items() if key.kind == "Namespace"}
    return {space: team for space, team in spaces.items() if team}


def _need_same_cluster(sides: Sides, dump: Dump, ours: Sequence[Workload]) -> None:
    """Refuse jobs of which none is in a team's namespace, or on a pool that the cluster has.

    Raises:
        TreeError: the dump is of another cluster.
    """
    if dump.workloads and not ours:
        spaces = few(sorted({job.namespace for job in dump.workloads}))
        raise TreeError(
            f"{dump.file} lists {counted(len(dump.workloads), 'job')} in {spaces}, and no team has "
            f"such a namespace on {sides.name}: is it from another cluster?"
        )
    pools = frozenset[str]().union(*(job.flavors for job in ours))
    if pools and not pools & _flavors(sides.before):
        raise TreeError(
            f"{dump.file} lists jobs on {few(sorted(pools))}, and {sides.name} has no such pool: "
            "is it from another cluster?"
        )


def _flavors(objects: Objects) -> frozenset[str]:
    return frozenset(key.name for key in objects if key.kind == "ResourceFlavor")
