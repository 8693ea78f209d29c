"""Jobs of teams while their cluster is upgraded: they run on, wait, are drained, start and end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from trainyard.model.quantity import counted
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.job_batch import JobBatch
from trainyard_rehearsal.checks.job_templates import JobTemplate, job_sizes
from trainyard_rehearsal.checks.jobs import TRAINER, Job, is_true
from trainyard_rehearsal.checks.sample_runs import pods_by_role, wait_until_running
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome
from trainyard_rehearsal.outcome import counted as outcome

_PATIENCE = 120.0
_DECIDED = 30.0
"""Seconds until Kueue gives a job without quota a reason; of equal jobs it may give one none."""
_WATCHED = 5.0
"""Seconds within which what a new controller does to jobs would be seen."""
_MOST = 40
"""Jobs that a queue gets at most until one waits: it may borrow."""


@dataclass(frozen=True, slots=True)
class TeamJob:
    """A job of a team, as it was when the upgrade began.

    Args:
        template: that it was made from.
        size: number of its pods.
        pods: uids; none of a job that waits.
    """

    job: Job
    template: JobTemplate
    size: int
    uid: str = ""
    pods: frozenset[str] = frozenset()

    @property
    def sample(self) -> Sample:
        """The job to copy, with its size."""
        return replace(self.template.sample, size=self.size)

    @property
    def name(self) -> str:
        """Kind, namespace and name, for messages."""
        return f"TrainJob {self.job.namespace}/{self.job.name}"

    def failure(self, words: str) -> Failure:
        """Return the failure of this job."""
        return Failure(self.name, words, self.template.at)


@dataclass(frozen=True, slots=True)
class TeamJobs:
    """Jobs that run and wait."""

    lab: Lab
    running: tuple[TeamJob, ...] = ()
    waiting: tuple[TeamJob, ...] = ()

    @property
    def every(self) -> tuple[TeamJob, ...]:
        """All jobs."""
        return self.running + self.waiting

    @property
    def display(self) -> str:
        """What they do, in words."""
        run = f"{counted(len(self.running), 'running job')} went on"
        wait = f"{counted(len(self.waiting), 'waiting job')} waited"
        return ", ".join(each for each in (run, wait) if not each.startswith("0")) or "no job"

    def gone_on(self) -> list[Failure]:
        """Watch the jobs for some seconds; return those that do not run on, or don't wait."""
        found: list[Failure] = []

        def is_disturbed() -> bool:
            found[:] = self._disturbed()
            return bool(found)

        self.lab.processes.waited(is_disturbed, _WATCHED)
        return found

    def _disturbed(self) -> Iterator[Failure]:
        for each in self.running:
            if words := _is_other(each) or _has_other_pods(each):
                yield each.failure(words)
        for each in self.waiting:
            if words := _is_other(each):
                yield each.failure(words)
            elif each.job.is_admitted:
                yield each.failure("it started, and should wait")

    def drained(self) -> list[Failure]:
        """Wait until Kueue has evicted every job; return those that it has not."""
        left = self.lab.processes.left(self._undrained, _PATIENCE)
        return [each.failure(words) for each, words in left]

    def _undrained(self) -> Iterator[tuple[TeamJob, str]]:
        for each in self.every:
            if words := _is_other(each):
                yield each, words
            elif each.job.is_admitted:
                yield each, "it is still admitted"
            elif pods := each.job.pods:
                yield each, f"it has still {len(pods)} pods"

    def delete(self) -> list[Failure]:
        """Delete the jobs; return those that do not go."""
        for each in self.every:
            each.job.delete()
        left = self.lab.processes.left(self._left, _PATIENCE)
        return [each.failure("it is still there after it was deleted") for each in left]

    def _left(self) -> Iterator[TeamJob]:
        return (each for each in self.every if not each.job.is_gone)


def begin(lab: Lab, templates: Sequence[JobTemplate]) -> tuple[TeamJobs, Outcome]:
    """Fill what every team owns with running jobs, and submit more until one waits.

    Args:
        lab: with the tree applied and no job.
        templates: one for each flavor of each open queue.
    """
    batch = JobBatch(lab)
    submitted = [(each, _fill(batch, each)) for each in templates]
    _wait_until_decided(lab, [job for _, jobs in submitted for job, _ in jobs])
    running: list[TeamJob] = []
    waiting: list[TeamJob] = []
    failures: list[Failure] = []
    for template, jobs in submitted:
        one_waits = [*_until_one_waits(lab, batch, template)]
        for job, size in (*jobs, *one_waits):
            if not job.is_admitted:
                waiting.append(_as_it_is(job, template, size))
            elif problem := wait_until_running(lab, job, replace(template.sample, size=size)):
                failures.append(_as_it_is(job, template, size).failure(problem))
            else:
                running.append(_as_it_is(job, template, size))
    found = TeamJobs(lab, tuple(running), tuple(waiting))
    failures += _incomplete(found, templates)
    remark = f"{len(running)} run, {len(waiting)} wait"
    tried = len(running) + len(waiting) + len(failures)
    return found, outcome("jobs run and wait before", tried, failures, remark)


def _fill(batch: JobBatch, template: JobTemplate) -> list[tuple[Job, int]]:
    """Submit as few jobs as fill what a queue owns."""
    sizes = job_sizes(sum(template.own_pods), template.smallest, template.grant.nodes)
    return [(batch.add(template, size), size) for size in sizes]


def _until_one_waits(lab: Lab, batch: JobBatch, template: JobTemplate) -> Iterator[tuple[Job, int]]:
    """Submit small jobs until one waits, and yield them."""
    for _ in range(_MOST):
        job = batch.add(template, template.smallest)
        yield job, template.smallest
        _wait_until_decided(lab, [job])
        if not job.is_admitted:
            return


def _wait_until_decided(lab: Lab, jobs: Collection[Job]) -> None:
    """Wait until Kueue has admitted every job, or its user can read why it waits."""
    lab.processes.waited(lambda: all(map(_is_decided, jobs)), _DECIDED)


def _is_decided(job: Job) -> bool:
    return job.is_admitted or "insufficient" in job.waiting_reason


def _as_it_is(job: Job, template: JobTemplate, size: int) -> TeamJob:
    return TeamJob(job, template, size, str(job.body["metadata"]["uid"]), _pods(job))


def _incomplete(jobs: TeamJobs, templates: Sequence[JobTemplate]) -> Iterator[Failure]:
    """Yield the queues of which no job runs, or none waits."""
    running = {each.sample.space.team.name for each in jobs.running}
    waiting = {each.sample.space.team.name for each in jobs.waiting}
    for template in templates:
        team = template.space.team.name
        if team not in running:
            yield Failure(template.name, "no job runs", template.at)
        elif team not in waiting:
            yield Failure(template.name, "no job waits", template.at)


def submit_waiting(lab: Lab, templates: Sequence[JobTemplate]) -> tuple[TeamJobs, list[Failure]]:
    """Submit a job to each queue that is stopped; return them, and those that are refused."""
    batch = JobBatch(lab)
    waiting, failures = [], []
    for template in templates:
        try:
            job = batch.add(template, template.smallest)
        except Refused as refused:
            failures.append(Failure(template.name, str(refused), template.at))
        else:
            waiting.append(_as_it_is(job, template, template.smallest))
    return TeamJobs(lab, waiting=tuple(waiting)), failures


def check_ends(lab: Lab, jobs: Sequence[TeamJob]) -> Outcome:
    """Run every job to its end; one may wait for the nodes of another."""
    patience = _PATIENCE + len(jobs)
    left = lab.processes.left(partial(_unfinished, jobs), patience)
    failures = [each.failure(words) for each, words in left]
    return outcome("jobs of the upgrade end", len(jobs), failures)


def _unfinished(jobs: Sequence[TeamJob]) -> Iterator[tuple[TeamJob, str]]:
    """Yield each job that has not ended well, and finish the pods of those that run."""
    for each in jobs:
        if words := _is_other(each):
            yield each, words
        elif not is_true(each.job.body, "Complete"):
            _finish(each)
            yield each, f"it does not end: {each.job.waiting_reason or 'Kueue says nothing'}"


def _finish(each: TeamJob) -> None:
    """Finish the steps of a job, and its last pods once all of them run."""
    runtime = each.sample.launch.runtime
    for step in runtime.initializers:
        each.job.finish(step.name)
    run = Counter(pod.role for pod in each.job.pods if pod.phase == "Running")
    wanted = pods_by_role(each.sample.grant, each.sample.nodes)
    if all(run[role] == count for role, count in wanted.items()):
        each.job.finish("launcher" if runtime.launcher.mpi else "node")


def _is_other(each: TeamJob) -> str:
    """Return what became of the TrainJob itself; empty if it is the same."""
    job = each.job
    body = job.api.find(TRAINER, "TrainJob", job.name, job.namespace)
    if not body:
        return "it is gone"
    return "" if body["metadata"]["uid"] == each.uid else "it was made again"


def _has_other_pods(each: TeamJob) -> str:
    now = _pods(each.job)
    if now == each.pods:
        return ""
    reason = each.job.waiting_reason or "Kueue says nothing"
    return f"{len(each.pods - now)} of its {len(each.pods)} pods are gone: {reason}"


def _pods(job: Job) -> frozenset[str]:
    return frozenset(str(pod.body["metadata"]["uid"]) for pod in job.pods)


def check_step(words: str, tried: int, failures: Sequence[Failure], fate: str) -> Outcome:
    """Return the outcome of a step of the plan.

    Args:
        words: number and words of the step.
        tried: number of parts that it upgrades or merges, and of jobs.
        failures: jobs with another fate than the plan says, and objects that were refused.
        fate: what became of the jobs.
    """
    return outcome("steps as planned", tried, [*failures], f"{words}: {fate}")
