"""Jobs of a dump that a change hits."""

from __future__ import annotations

from dataclasses import dataclass


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
