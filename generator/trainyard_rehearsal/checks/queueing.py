"""Check that full queues make jobs wait, preempt by priority, and report why a job waits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.borrowing import borrowing_trials
from trainyard_rehearsal.checks.full_queues import (
    NO_REASON,
    PATIENCE,
    Preemption,
    Trial,
    check_preemptions,
    failure_if,
    prefixed,
    waiting_problem,
)
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
    templates_of,
)
from trainyard_rehearsal.checks.jobs import Job, conditions
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_FEWEST_FRAGMENTED = 4
"""Fewest pods of a queue in which deleting every second job leaves several gaps."""


def check_queueing(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Run each trial in every queue that can show it; a remark lists those that no queue can show.

    Args:
        lab: with the tree applied.
        samples: the sample jobs of the tree.
        teams: names of those that are tried.
    """
    templates = [
        template
        for template in one_per_flavor(templates_of(samples))
        if template.fillable(sum(template.own_pods))
    ]
    trials = list(_trials(lab, templates, teams))
    missing = ", ".join(trial.promise for trial in trials if not trial.count)
    remark = f"no queue of this cluster can show: {missing}" if missing else ""
    for trial in trials:
        if trial.count:
            yield counted(trial.promise, trial.count, list(trial.failures), remark)
            remark = ""


def _trials(lab: Lab, every: Sequence[JobTemplate], teams: Collection[str]) -> Iterator[Trial]:
    templates = [template for template in every if template.space.team.name in teams]
    yield Trial("job over quota waits", len(templates), _in_rounds(_over_quota, lab, templates))
    pools = list({template.flavors[0].name: template for template in templates}.values())
    yield Trial("job without nodes shows why", len(pools), _in_turn(_without_nodes, lab, pools))
    ranked = [template for template in templates if len(template.space.priorities) > 1]
    yield Trial("higher priority preempts", len(ranked), _in_rounds(_priority, lab, ranked))
    wide = list(filter(_can_be_fragmented, templates))
    yield Trial("job fits between others", len(wide), _in_turn(_fragmented, lab, wide))
    yield from borrowing_trials(lab, every, teams)


def _in_rounds(
    check: Callable[[Lab, list[JobTemplate]], Iterator[Failure]],
    lab: Lab,
    templates: Sequence[JobTemplate],
) -> Iterator[Failure]:
    """Run a check with templates that don't disturb each other at the same time."""
    for some in independent_rounds(templates, lambda template: sum(template.maximum_pods)):
        yield from check(lab, some)


def _in_turn(
    check: Callable[[Lab, JobTemplate], Iterator[Failure]],
    lab: Lab,
    templates: Sequence[JobTemplate],
) -> Iterator[Failure]:
    for template in templates:
        yield from check(lab, template)


def _can_be_fragmented(template: JobTemplate) -> bool:
    return _switches(template) > 1 and sum(template.own_pods) >= _FEWEST_FRAGMENTED


def _switches(template: JobTemplate) -> int:
    """Return the number of leaf switches above the nodes of a queue; 0 without a topology."""
    pool = template.flavors[0].pool
    return -(-pool.nodes // (pool.topology.leaf_nodes or pool.nodes)) if pool.topology else 0


_Filled = list[tuple[JobTemplate, list[Job]]]


def _fill_to_maximum(
    lab: Lab, batch: JobBatch, templates: Sequence[JobTemplate], *, ranked: bool = False
) -> _Filled:
    """Fill queues with everything that they may borrow; `ranked` jobs have the lowest priority."""
    full = []
    submitted: list[Job] = []
    for template in templates:
        priority = template.space.priorities[0] if ranked else None
        jobs = batch.fill(template, template.maximum_pods, priority)
        full.append((template, jobs))
        submitted += jobs
    wait_for_admission(lab, submitted)
    return full


def _over_quota(lab: Lab, templates: Sequence[JobTemplate]) -> Iterator[Failure]:
    """Fill queues; one job more waits with a reason, and starts when another job is deleted."""
    with JobBatch(lab) as batch:
        full = _fill_to_maximum(lab, batch, templates)
        late = [(template, jobs, batch.add(template, template.smallest)) for template, jobs in full]
        for template, jobs, job in late:
            problem = describe_waiting(jobs) or waiting_problem(lab, job, template)
            yield from failure_if(template, problem)
        for _, jobs, _ in late:
            batch.remove(jobs[0])
        wait_for_admission(lab, [job for *_, job in late])
        for template, _, job in late:
            waiting = describe_waiting([job])
            problem = prefixed("does not start after another job is deleted", waiting)
            yield from failure_if(template, problem)


def _priority(lab: Lab, templates: Sequence[JobTemplate]) -> Iterator[Failure]:
    """Fill queues at the lowest priority; one job of the highest priority preempts some of them."""
    with JobBatch(lab) as batch:
        full = _fill_to_maximum(lab, batch, templates, ranked=True)
        for template, jobs in full:
            yield from failure_if(template, describe_waiting(jobs))
        preemptions = []
        for template, jobs in full:
            highest = template.space.priorities[-1]
            urgent = batch.add(template, template.smallest, highest)
            preemptions.append(Preemption(template, jobs, [urgent]))
        yield from check_preemptions(lab, batch, preemptions)


def _fragmented(lab: Lab, template: JobTemplate) -> Iterator[Failure]:
    """Fill a queue with small jobs and delete every second one, then submit one large job.

    The large job must run on the free nodes, or report that the topology prevents it.
    """
    with JobBatch(lab) as batch:
        count = sum(template.maximum_pods) // template.smallest
        small = [batch.add(template, template.smallest) for _ in range(count)]
        wait_for_admission(lab, small)
        filled = f"{len(small)} jobs of {template.smallest} pods"
        yield from failure_if(template, prefixed(filled, describe_waiting(small)))
        deleted = small[::2]
        for job in deleted:
            batch.remove(job)
        size = min(len(deleted) * template.smallest, template.grant.nodes)
        large = batch.add(template, size)
        if not lab.processes.waited(
            lambda: _running_nodes(large, template) == size or "topology" in large.waiting_reason,
            PATIENCE,
        ):
            what = f"a job of {size} pods between {len(small) - len(deleted)} others"
            problem = describe_waiting([large]) or "no pods"
            yield from failure_if(template, f"{what}: {problem}")


def _running_nodes(job: Job, template: JobTemplate) -> int:
    """Return the running pods with ranks."""
    roles = template.sample.launch.runtime.rank_roles
    return sum(pod.phase == "Running" and pod.role in roles for pod in job.pods)


def _without_nodes(lab: Lab, template: JobTemplate) -> Iterator[Failure]:
    """Cordon the nodes of a queue; a job's user sees why it waits, and it runs after uncordon."""
    pool = template.flavors[0].pool.name
    nodes = [
        node
        for node in lab.api.list("v1", "Node")
        if node["metadata"]["name"].rpartition("-")[0] == pool
    ]
    with JobBatch(lab) as batch:
        try:
            _cordon(lab, nodes, unschedulable=True)
            job = batch.add(template, template.smallest)
            seen = job_as_user(lab, job, template.space)
            if not lab.processes.waited(lambda: _reports_missing_nodes(seen), PATIENCE):
                yield from failure_if(template, f"{NO_REASON}: {seen.waiting_reason}")
        finally:
            _cordon(lab, nodes, unschedulable=False)
        if not lab.processes.waited(
            lambda: _running_nodes(job, template) == template.smallest, PATIENCE
        ):
            problem = f"does not run on uncordoned nodes: {job.waiting_reason}"
            yield from failure_if(template, problem)


def _cordon(lab: Lab, nodes: Sequence[Body], *, unschedulable: bool) -> None:
    for node in nodes:
        lab.api.patch(node, {"spec": {"unschedulable": unschedulable or None}})


def _reports_missing_nodes(job: Job) -> bool:
    """Return whether Kueue or the scheduler reports that no node is free.

    Kueue tries the flavors of a queue one after the other. The condition has its message for the
    last one, which may be one that the job can't use; the events have all messages.
    """
    if any("topology" in words for words in (job.waiting_reason, *job.events)):
        return True
    messages = (
        str(condition.get("message", "")) for pod in job.pods for condition in conditions(pod.body)
    )
    return any("nodes are available" in message for message in messages)
