"""Check a full cluster: more jobs than all queues hold, until the last job is complete."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import partial

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.job_batch import JobBatch
from trainyard_rehearsal.checks.job_templates import JobTemplate, templates_of
from trainyard_rehearsal.checks.jobs import JOBSET, KUEUE, TRAINER, Job, is_true
from trainyard_rehearsal.checks.sample_runs import pods_by_role
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_PATIENCE = 600.0
_SETTLING = 300.0

Submitted = Sequence[tuple[Job, JobTemplate, int]]
"""Jobs, each with its template and its number of pods."""


def check_load(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Submit more jobs than the cluster holds, and finish each as soon as it runs.

    No queue may exceed its quota, no job may wait without a reason, and all must complete.

    Args:
        lab: with the tree applied.
        samples: the sample jobs of the tree.
        teams: names of those that request twice their quota and what they may borrow; the others
            request their nominal quota.
    """
    chosen = random.Random(lab.plan.site.name)  # noqa: S311 - the same jobs each time
    every = templates_of(samples)
    templates = [template for template in every if _can_be_evicted(template)]
    if not templates:
        return
    left_out = len(every) - len(templates)
    with JobBatch(lab) as batch:
        jobs = []
        for template, pods in _jobs(templates, teams, chosen):
            priority = chosen.choice(template.space.priorities or (None,))
            jobs.append((batch.add(template, pods, priority), template, pods))
        failures = list(_settle(lab, jobs))
        monitor = _LoadMonitor(lab, jobs)
        lab.processes.waited(monitor.step, _PATIENCE)
        failures += [*monitor.failures(), *_incomplete(jobs)]
        remark = monitor.remark + (f"; {left_out} with steps left out" if left_out else "")
        yield counted("jobs of a full cluster complete", len(jobs), failures, remark)


def _can_be_evicted(template: JobTemplate) -> bool:
    """Return whether an evicted job starts again after its steps are done.

    A rule reports the templates whose jobs do not: such a job would never complete here.
    """
    return template.sample.launch.returns_after_steps


def _jobs(
    templates: Sequence[JobTemplate], teams: Collection[str], chosen: random.Random
) -> Iterator[tuple[JobTemplate, int]]:
    """Yield random templates of each queue with numbers of pods, until its request is reached."""
    for name in sorted({template.queue.name for template in templates}):
        own = [template for template in templates if template.queue.name == name]
        left = _requested(own[0], teams)
        while left > 0:
            template = chosen.choice(own)
            largest = min(template.grant.nodes, template.smallest + 2)
            pods = chosen.randint(template.smallest, largest)
            left -= pods * template.part
            yield template, pods


def _requested(template: JobTemplate, teams: Collection[str]) -> Fraction:
    """Return the nodes that jobs of a queue request together."""
    if template.space.team.name in teams:
        return 2 * _maximum_nodes(template)
    return _own_nodes(template)


def _own_nodes(template: JobTemplate) -> Fraction:
    return sum((flavor.quota.nodes for flavor in template.queue.flavors), Fraction(0))


def _maximum_nodes(template: JobTemplate) -> Fraction:
    return sum((flavor.quota.maximum for flavor in template.queue.flavors), Fraction(0))


def _settle(lab: Lab, jobs: Submitted) -> Iterator[Failure]:
    """Wait, before any job is finished, until each runs or has a reason to wait."""
    for job, template, problem in lab.processes.left(partial(_wrongly_waiting, jobs), _SETTLING):
        yield Failure(_label(job), problem, template.at)


def _wrongly_waiting(jobs: Submitted) -> Iterator[tuple[Job, JobTemplate, str]]:
    """Yield jobs that wait without a reason, or although their nominal quota has room.

    Of equal jobs in a queue, whatever their namespace and runtime, Kueue gives only the first a
    reason (`sizes_beyond_quota` has the source).
    """
    used: dict[str, Fraction] = defaultdict(Fraction)
    waiting = []
    for job, template, pods in jobs:
        if job.is_admitted:
            used[template.queue.name] += pods * template.part
        else:
            waiting.append((job, template, pods))
    explained = {
        (template.queue.name, pods) for job, template, pods in waiting if job.waiting_reason
    }
    for job, template, pods in waiting:
        free = _own_nodes(template) - used[template.queue.name]
        if (template.queue.name, pods) not in explained:
            yield job, template, "waits without a reason"
        elif pods * template.part <= free:
            yield job, template, f"waits beside {free} free nodes: {job.waiting_reason}"


def _incomplete(jobs: Submitted) -> Iterator[Failure]:
    for job, template, _ in jobs:
        if not is_true(job.body, "Complete"):
            reason = job.waiting_reason or "no condition gives a reason"
            yield Failure(_label(job), f"is not complete: {reason}", template.at)


def _label(job: Job) -> str:
    return f"TrainJob {job.namespace}/{job.name}"


class _LoadMonitor:
    """Finishes jobs as soon as they run, and measures the most that queues and pools ever used."""

    def __init__(self, lab: Lab, jobs: Submitted) -> None:
        self._lab = lab
        self._jobs = {
            (job.namespace, job.name): (job, template, pods) for job, template, pods in jobs
        }
        self._most: dict[str, Fraction] = defaultdict(Fraction)

    def step(self) -> bool:
        """Look at all jobs once; return whether every job has ended."""
        self._measure()
        pods: dict[tuple[str, str], list[Body]] = defaultdict(list)
        for pod in self._lab.api.list("v1", "Pod", labels=JOBSET):
            metadata = pod["metadata"]
            pods[metadata["namespace"], metadata["labels"][JOBSET]].append(pod)
        for key, (job, template, size) in self._jobs.items():
            _advance(job, template, size, pods[key])
        every = self._lab.api.list(TRAINER, "TrainJob")
        return all(is_true(body, "Complete") or is_true(body, "Failed") for body in every)

    def _measure(self) -> None:
        """Add up the nodes that are admitted now, by queue and by pool."""
        now: dict[str, Fraction] = defaultdict(Fraction)
        for body in self._lab.api.list(KUEUE, "Workload"):
            (owner,) = body["metadata"]["ownerReferences"]
            if is_true(body, "Admitted") and not is_true(body, "Finished"):
                _, template, _ = self._jobs[body["metadata"]["namespace"], owner["name"]]
                for flavor, pods in _assigned(body, template):
                    now[f"queue {template.queue.name}"] += pods * template.part
                    now[f"pool {flavor}"] += pods * template.part
        for name, amount in now.items():
            self._most[name] = max(self._most[name], amount)

    @property
    def remark(self) -> str:
        """The most nodes that were used of each pool."""
        pools = self._lab.plan.site.cluster.pools
        return "at most " + ", ".join(
            f"{float(self._most[f'pool {pool.name}']):g} of {pool.promised} {pool.name}"
            for pool in pools
        )

    def failures(self) -> Iterator[Failure]:
        """Yield queues and pools that used more than permitted at some moment."""
        queues = {template.queue.name: template for _, template, _ in self._jobs.values()}
        for name, template in queues.items():
            maximum, used = _maximum_nodes(template), self._most[f"queue {name}"]
            if used > maximum:
                words = f"used {used} nodes of at most {maximum}"
                yield Failure(f"ClusterQueue {name}", words, template.at)
        for pool in self._lab.plan.site.cluster.pools:
            used = self._most[f"pool {pool.name}"]
            if used > pool.promised:
                words = f"{used} nodes were used of {pool.promised}"
                yield Failure(f"pool {pool.name}", words, pool.at)


def _advance(job: Job, template: JobTemplate, size: int, pods: Sequence[Body]) -> None:
    """Finish a job's step, or the job when all its pods run."""
    running = Counter(
        pod["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"]
        for pod in pods
        if _runs(pod)
    )
    for step in template.sample.launch.runtime.initializers:
        if running[step.name]:
            job.finish(step.name)
    wanted = pods_by_role(template.grant, size)
    if all(running[role] == count for role, count in wanted.items()):
        job.finish("launcher" if "launcher" in wanted else "node")


def _assigned(workload: Body, template: JobTemplate) -> Iterator[tuple[str, int]]:
    """Yield the flavors of a workload's ranks, each with its number of pods."""
    for each in workload["status"]["admission"]["podSetAssignments"]:
        if each["name"] in template.sample.launch.runtime.rank_roles:
            yield next(iter(each["flavors"].values())), each["count"]


def _runs(pod: Body) -> bool:
    is_running = pod["status"].get("phase") == "Running"
    return bool(is_running and "deletionTimestamp" not in pod["metadata"])
