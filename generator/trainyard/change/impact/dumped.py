"""What becomes of the jobs that a dump of a cluster lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainyard.change.impact.disruption import Disturbed
from trainyard.change.impact.running import JobHit, job_hits
from trainyard.change.impact.stuck import StuckJob, stuck_jobs
from trainyard.change.objects import Sides
from trainyard.diagnostics import TreeError
from trainyard.model.differences import few
from trainyard.model.identity import Identity, team_of
from trainyard.model.manifest import Manifest
from trainyard.model.quantity import counted
from trainyard.model.workload import Dump, Workload


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


def _teams(objects: Mapping[Identity, Manifest]) -> dict[str, str]:
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


def _flavors(objects: Mapping[Identity, Manifest]) -> frozenset[str]:
    return frozenset(key.name for key in objects if key.kind == "ResourceFlavor")
