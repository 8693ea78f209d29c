"""Steps that checks of full queues share: jobs that wait, and jobs that preempt others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trainyard_rehearsal.checks.job_batch import (
    JobBatch,
    describe_waiting,
    job_as_user,
    wait_for_admission,
)
from trainyard_rehearsal.checks.job_templates import JobTemplate
from trainyard_rehearsal.checks.jobs import Job, conditions
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure

PATIENCE = 120.0
NO_REASON = "no condition gives a reason"


@dataclass(frozen=True, slots=True)
class Trial:
    """One line of the table about full queues.

    Args:
        promise: the line.
        count: how many queues, or pairs of queues, can show it.
        failures: runs the trial when it is iterated.
    """

    promise: str
    count: int
    failures: Iterator[Failure]


class Preemption(NamedTuple):
    """Jobs of one queue that preempt others.

    Args:
        template: of the queue.
        running: jobs of which at least one must be evicted.
        preempting: jobs that must be admitted in their place.
    """

    template: JobTemplate
    running: Sequence[Job]
    preempting: Sequence[Job]


def failure_if(template: JobTemplate, problem: str) -> Iterator[Failure]:
    """Yield a failure of a queue unless the problem is empty."""
    if problem:
        yield Failure(template.name, problem, template.at)


def prefixed(prefix: str, problem: str) -> str:
    """Return a problem after a prefix; empty when there is no problem."""
    return f"{prefix}: {problem}" if problem else ""


def waiting_problem(lab: Lab, job: Job, template: JobTemplate) -> str:
    """Wait until a job's user sees that quota is insufficient; return what happens instead."""
    seen = job_as_user(lab, job, template.space)
    is_decided = lab.processes.waited(
        lambda: "insufficient" in seen.waiting_reason or job.is_admitted, PATIENCE
    )
    if job.is_admitted:
        return f"{job.name} is admitted and should wait"
    return "" if is_decided else f"{job.name} waits: {seen.waiting_reason or NO_REASON}"


def check_preemptions(
    lab: Lab, batch: JobBatch, preemptions: Sequence[Preemption]
) -> Iterator[Failure]:
    """Yield queues in which jobs are not preempted, or don't return after the preempting jobs."""
    preempting = [job for each in preemptions for job in each.preempting]
    wait_for_admission(lab, preempting)
    for preemption in preemptions:
        yield from failure_if(preemption.template, _preemption_problem(preemption))
    for job in preempting:
        batch.remove(job)
    wait_for_admission(lab, [job for each in preemptions for job in each.running])
    for each in preemptions:
        waiting = describe_waiting(each.running)
        yield from failure_if(each.template, prefixed("evicted jobs do not return", waiting))


def _preemption_problem(preemption: Preemption) -> str:
    if waiting := describe_waiting(preemption.preempting):
        return f"no job makes room: {waiting}"
    if any(map(_is_preempted, preemption.running)):
        return ""
    names = ", ".join(job.name for job in preemption.preempting)
    return f"no job was evicted for {names}"


def _is_preempted(job: Job) -> bool:
    """Return whether Kueue evicted a job for another one."""
    return any(
        condition["type"] == "Evicted"
        and condition["status"] == "True"
        and "Preempted" in str(condition["message"])
        for condition in conditions(job.workload)
    )
