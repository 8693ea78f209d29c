"""Jobs that a check submits together to an empty cluster, and deletes afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Self

from trainyard.model.cluster import Priority
from trainyard.model.space import Space
from trainyard_rehearsal.checks.job_templates import JobTemplate, job_sizes
from trainyard_rehearsal.checks.jobs import KUEUE, Job, as_user, submit
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused

_PATIENCE = 120.0
_CONFLICT = 409


@dataclass
class JobBatch:
    """Jobs that start on an empty cluster; leaving the context deletes those that are left."""

    lab: Lab
    jobs: list[Job] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __enter__(self) -> Self:
        """Wait for an empty cluster."""
        self._wait_until_empty()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Delete the jobs that are left."""
        for job in self.jobs:
            job.delete()
        if kind is None:
            self._wait_until_empty()

    def add(self, template: JobTemplate, pods: int, priority: Priority | None = None) -> Job:
        """Submit a job with this number of pods.

        Raises:
            Refused: by a role or a policy.
        """
        body = template.body(f"job-{next(self._numbers)}", pods, priority)
        job = _submit(self.lab, body, template.space)
        self.jobs.append(job)
        return job

    def fill(
        self, template: JobTemplate, pods: Iterable[int], priority: Priority | None = None
    ) -> list[Job]:
        """Submit as few jobs as have these numbers of pods, one number for each flavor.

        Where jobs can't have exactly as many, they have the most that they can.

        Raises:
            Refused: by a role or a policy.
        """
        sizes: list[int] = []
        for amount in pods:
            sizes += job_sizes(amount, template.smallest, template.grant.nodes)
        return [self.add(template, size, priority) for size in sizes]

    def remove(self, job: Job) -> None:
        """Delete a job."""
        job.delete()
        self.jobs.remove(job)

    def _wait_until_empty(self) -> None:
        self.lab.processes.wait_until(
            lambda: is_empty(self.lab), "the end of the jobs before", _PATIENCE
        )


def _submit(lab: Lab, body: Body, space: Space) -> Job:
    """Create a job as its user; repeat while a ResourceQuota changes at the same moment."""
    while True:
        try:
            return submit(lab.api, body, space)
        except Refused as refused:
            if refused.status != _CONFLICT or "resourcequotas" not in str(refused):
                raise


def is_empty(lab: Lab) -> bool:
    """Return whether there is no Workload and no pod of a job."""
    pods = lab.api.list("v1", "Pod", labels="jobset.sigs.k8s.io/jobset-name")
    return not pods and not lab.api.list(KUEUE, "Workload")


def wait_for_admission(lab: Lab, jobs: Sequence[Job]) -> bool:
    """Wait until Kueue admits every job; return whether it did."""
    return lab.processes.waited(lambda: all(job.is_admitted for job in jobs), _PATIENCE)


def describe_waiting(jobs: Iterable[Job]) -> str:
    """Return why jobs wait, in Kueue's words; empty when all are admitted."""
    waiting = (job for job in jobs if not job.is_admitted)
    return "; ".join(
        f"{job.name} waits: {job.waiting_reason or 'Kueue says nothing'}" for job in waiting
    )


def job_as_user(lab: Lab, job: Job, space: Space) -> Job:
    """Return a job as a member of its team sees it."""
    return Job(as_user(lab.api, space), job.namespace, job.name)


def delete_and_wait(lab: Lab, job: Job) -> None:
    """Delete a job, and wait until it and its pods are gone."""
    job.delete()
    lab.processes.wait_until(lambda: job.is_gone, f"the end of {job.name}", _PATIENCE)
