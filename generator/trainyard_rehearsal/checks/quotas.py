"""Check that quotas admit the largest jobs, refuse larger ones, and can be filled completely."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from trainyard.model.manifest import Manifest
from trainyard.model.quantity import format_amount
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.job_batch import (
    JobBatch,
    describe_waiting,
    job_as_user,
    wait_for_admission,
)
from trainyard_rehearsal.checks.job_templates import (
    JobTemplate,
    independent_rounds,
    one_per_flavor,
    sizes_beyond_quota,
    templates_of,
)
from trainyard_rehearsal.checks.jobs import KUEUE, Job, as_user
from trainyard_rehearsal.checks.variants import as_applied
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_PATIENCE = 120.0
_BINDING = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding")


def check_quotas(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Try each runtime of each namespace at and beyond its limit, then fill the queues.

    Args:
        lab: with the tree applied.
        samples: the sample jobs of the tree.
        teams: names of those that are tried; the quotas of all teams are filled together.
    """
    every = templates_of(samples)
    templates = [template for template in every if template.space.team.name in teams]
    yield counted("largest jobs admitted", len(templates), list(_largest_jobs(lab, templates)))
    yield counted("one node more refused", len(templates), list(_larger_jobs(lab, templates)))
    larger = [template for template in templates if not template.has_one_pod]
    if larger:
        yield counted("quota enforced without policy", len(larger), _beyond_quota(lab, larger))
    owners = list(filter(_fills_own_quota, one_per_flavor(every)))
    if owners:
        amounts = [(template, template.own_pods) for template in owners]
        yield counted("own quotas filled", len(owners), list(_fill(lab, amounts)))
    yield from _fill_borrowed(lab, list(filter(_fills_borrowed_quota, one_per_flavor(templates))))


def _fill_borrowed(lab: Lab, borrowers: Sequence[JobTemplate]) -> Iterator[Outcome]:
    if borrowers:
        failures: list[Failure] = []
        for template in borrowers:
            failures += _fill(lab, [(template, template.maximum_pods)])
        yield counted("borrowed quotas filled", len(borrowers), failures)


def _fills_own_quota(template: JobTemplate) -> bool:
    """Return whether a job fits into the nominal quota."""
    return template.fillable(sum(template.own_pods)) > 0


def _fills_borrowed_quota(template: JobTemplate) -> bool:
    """Return whether jobs can use more than the nominal quota."""
    return template.fillable(sum(template.maximum_pods)) > sum(template.own_pods)


def _largest_jobs(lab: Lab, templates: Sequence[JobTemplate]) -> Iterator[Failure]:
    for some in independent_rounds(templates, lambda template: template.grant.nodes):
        yield from _largest_at_once(lab, some)


def _largest_at_once(lab: Lab, templates: Sequence[JobTemplate]) -> Iterator[Failure]:
    with JobBatch(lab) as batch:
        jobs = [(template, batch.add(template, template.grant.nodes)) for template in templates]
        wait_for_admission(lab, [job for _, job in jobs])
        for template, job in jobs:
            if reason := describe_waiting([job]):
                size = template.grant.nodes
                yield Failure(_label(template), f"a job of {size} nodes: {reason}", template.at)


def _label(template: JobTemplate) -> str:
    return f"{template.space.namespace}, {template.sample.launch.name}"


def _larger_jobs(lab: Lab, templates: Sequence[JobTemplate]) -> Iterator[Failure]:
    """Yield templates whose job is not refused for its size when it is one node too large."""
    for template in templates:
        largest = template.grant.nodes
        answer = _refusal(lab, template, largest + 1)
        if not re.search(rf"may ask for (\d+ to )?{largest} nodes? ", answer):
            words = f"a job of {largest + 1} nodes: {answer or 'accepted'}"
            yield Failure(_label(template), words, template.at)


def _refusal(lab: Lab, template: JobTemplate, pods: int) -> str:
    """Return why the API server refuses a job, in a dry run; empty when it accepts the job."""
    try:
        as_user(lab.api, template.space).create(template.body("one-more", pods), dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def _beyond_quota(lab: Lab, templates: Sequence[JobTemplate]) -> list[Failure]:
    """Submit jobs beyond every quota while no policy limits them; return those not held back."""
    with _without_policy(lab, templates), JobBatch(lab) as batch:
        jobs = []
        for template, pods in sizes_beyond_quota(templates):
            job = batch.add(template, pods)
            jobs.append((template, pods, job_as_user(lab, job, template.space)))
        return lab.processes.left(partial(_not_held_back, jobs), _PATIENCE)


def _not_held_back(jobs: Iterable[tuple[JobTemplate, int, Job]]) -> Iterator[Failure]:
    """Yield a failure for each job that is admitted, or whose user does not see why it waits."""
    for template, pods, job in jobs:
        if job.is_admitted or not _exceeds_quota(template, job):
            reason = job.waiting_reason or "Kueue says nothing"
            yield Failure(_label(template), f"{pods} pods: {reason}", template.at)


def _exceeds_quota(template: JobTemplate, job: Job) -> bool:
    """Return whether Kueue reports that a job exceeds every quota.

    Of several flavors Kueue may report only the last that it tried.
    """
    reason = job.waiting_reason
    is_other_flavor = (
        len(template.queue.flavors) > 1
        and "doesn't match node affinity" in reason
        and "topology" not in reason
    )
    return "maximum capacity" in reason or is_other_flavor


@contextmanager
def _without_policy(lab: Lab, templates: Sequence[JobTemplate]) -> Iterator[None]:
    """Remove what limits TrainJobs in the namespaces; put it back and wait until it is enforced."""
    names: set[str] = set()
    for template in templates:
        names |= {template.space.limits_name, template.space.help_name}
    bindings = [as_applied(lab.api.get(*_BINDING, name)) for name in sorted(names)]
    accepted = partial(_accepted_beyond_limit, lab, templates)
    try:
        for body in bindings:
            lab.api.delete(body)
        lab.processes.wait_until(
            lambda: all(accepted()), "the end of the limits on TrainJobs", _PATIENCE
        )
        yield
    finally:
        for body in bindings:
            lab.api.apply(body)
        lab.processes.wait_until(
            lambda: not any(accepted()), "the return of the limits on TrainJobs", _PATIENCE
        )


def _accepted_beyond_limit(lab: Lab, templates: Sequence[JobTemplate]) -> list[bool]:
    """Return for each namespace whether a job beyond its limit is accepted."""
    by_namespace = {template.space.namespace: template for template in templates}
    return [
        not _refusal(lab, template, sum(template.maximum_pods) + 1)
        for template in by_namespace.values()
    ]


def _fill(lab: Lab, amounts: Sequence[tuple[JobTemplate, tuple[int, ...]]]) -> Iterator[Failure]:
    """Fill queues at the same time, then compare what they borrow.

    Args:
        lab: with no job.
        amounts: for each template its pods in each flavor.
    """
    with JobBatch(lab) as batch:
        filled = []
        submitted: list[Job] = []
        for template, pods in amounts:
            jobs = batch.fill(template, pods)
            filled.append((template, sum(map(template.fillable, pods)), jobs))
            submitted += jobs
        wait_for_admission(lab, submitted)
        for template, count, jobs in filled:
            if reason := describe_waiting(jobs):
                yield Failure(template.name, f"jobs of {count} pods: {reason}", template.at)
                continue
            expected = _expected_borrowing(template, count)
            if not lab.processes.waited(partial(_borrows, lab, template, expected), _PATIENCE):
                borrowed = _borrowed(lab, template)
                words = f"borrows {borrowed} with {count} pods, not {expected}"
                yield Failure(template.name, words, template.at)


def _expected_borrowing(template: JobTemplate, pods: int) -> str:
    """Return the GPUs, or CPUs without GPUs, that pods use beyond the nominal quota."""
    name = _counted_resource(template)
    (flavor,) = template.flavors
    own = int(flavor.quota.nodes * flavor.pool.allocatable[name])
    return format_amount(name, max(0, template.sample.launch.per_node[name] * pods - own))


def _counted_resource(template: JobTemplate) -> str:
    gpu = template.sample.launch.hardware.gpu
    return gpu.resource if gpu else "cpu"


def _borrows(lab: Lab, template: JobTemplate, expected: str) -> bool:
    return _borrowed(lab, template) == expected


def _borrowed(lab: Lab, template: JobTemplate) -> str:
    """Return the amount of the counted resource that Kueue reports as borrowed."""
    status = lab.api.get(KUEUE, "ClusterQueue", template.queue.name).get("status") or {}
    amounts = {
        (flavor["name"], resource["name"]): resource.get("borrowed", "0")
        for flavor in status.get("flavorsUsage", [])
        for resource in flavor["resources"]
    }
    return str(amounts.get((template.flavors[0].name, _counted_resource(template)), "0"))
