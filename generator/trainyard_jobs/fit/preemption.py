"""Which running jobs Kueue would evict for a job that finds no free quota.

Source: kubernetes-sigs/kueue:pkg/scheduler/preemption/{preemption.go,classical} @v0.19.2, for the
policies of the tree: ``withinClusterQueue: LowerPriority``, ``reclaimWithinCohort: Any``,
``borrowWithinCohort: Never``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard_jobs.fit.cohorts import Amount, Cohorts
from trainyard_jobs.fit.usage import Running


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job that may be evicted.

    Args:
        lowest: the lowest cohort that its queue and the waiting job's have in common; empty for a
            job of the same queue.
        reclaimed: whether it may be evicted only while the waiting job's queue does not borrow.
    """

    job: Running
    lowest: str
    reclaimed: bool


@dataclass(frozen=True, slots=True)
class Preemptor:
    """A job that waits.

    Args:
        queue: node of its ClusterQueue.
        requests: in the flavors that were chosen.
        scarce: what it lacks free quota of.
        short: what evicted jobs must use: the same, or anything where only nodes are lacking.
        fits: returns whether its pods find nodes when some jobs are evicted.
    """

    queue: str
    priority: int
    requests: Mapping[Amount, int]
    scarce: frozenset[Amount]
    short: frozenset[Amount]
    fits: Callable[[Sequence[Running]], bool]


def victims(cohorts: Cohorts, job: Preemptor, running: Sequence[Running]) -> list[Running] | None:
    """Return the jobs that are evicted for a job; None when no eviction makes room."""
    if not all(_may_preempt(cohorts, job, amount) for amount in job.scarce):
        return None
    candidates = list(_candidates(cohorts, job, running))
    for borrowing in _attempts(cohorts, job, candidates):
        evicted = _evicted(cohorts, job, candidates, borrowing=borrowing)
        if evicted is not None:
            return evicted
    return None


def _may_preempt(cohorts: Cohorts, job: Preemptor, amount: Amount) -> bool:
    """Return whether Kueue looks for jobs to evict at all (fitsResourceQuota).

    What is requested must fit the queue's own quota, or that of a cohort below the root
    (FindHeightOfLowestSubtreeThatFits).
    """
    rest = job.requests[amount]
    if rest <= cohorts.nominal(job.queue, amount):
        return True
    if not cohorts.borrows_with(job.queue, amount, rest):
        return job.queue in cohorts.parents
    rest -= cohorts.local_available(job.queue, amount)
    for cohort in cohorts.line(job.queue):
        if not cohorts.borrows_with(cohort, amount, rest):
            return cohort in cohorts.parents
        rest -= cohorts.local_available(cohort, amount)
    return False


def _attempts(
    cohorts: Cohorts, job: Preemptor, candidates: Sequence[Candidate]
) -> tuple[bool, ...]:
    """Return whether each attempt may borrow, in Kueue's order (classicalPreemptions)."""
    others = [candidate for candidate in candidates if candidate.lowest]
    queue = job.queue
    under = all(
        cohorts.used(queue, amount) < cohorts.nominal(queue, amount) for amount in job.short
    )
    if not others or not under:
        return (True,)
    return (False, True) if all(other.reclaimed for other in others) else (True, False)


def _candidates(
    cohorts: Cohorts, job: Preemptor, running: Sequence[Running]
) -> Iterator[Candidate]:
    """Yield the jobs that may be evicted: those of cohorts first, then those of the same queue."""
    using = [other for other in running if job.short & other.usage.keys()]
    using.sort(key=lambda other: (other.priority, _newest_first(other.since), other.job))
    for advantage, lowest, queue in _queues(cohorts, job):
        for other in using:
            if other.queue == queue:
                yield Candidate(other, lowest, reclaimed=not advantage)
    yield from _of_same_queue(job, using)


def _of_same_queue(job: Preemptor, using: Sequence[Running]) -> Iterator[Candidate]:
    for other in using:
        if other.queue == job.queue and other.priority < job.priority:
            yield Candidate(other, "", reclaimed=False)


def _newest_first(since: str) -> tuple[int, ...]:
    return tuple(-ord(char) for char in since)


def _queues(cohorts: Cohorts, job: Preemptor) -> Iterator[tuple[bool, str, str]]:
    """Yield each queue that uses more than its own, with how it is related to the job's.

    Each has whether the job's queue has an advantage over it, and their lowest common cohort
    (collectCandidatesForHierarchicalReclaim).
    """
    advantage, rest = _remaining(cohorts, job.queue, job.requests)
    below = job.queue
    for cohort in cohorts.line(job.queue):
        for queue in _borrowers(cohorts, cohort, below, job.short):
            yield advantage, cohort, queue
        fits, rest = _remaining(cohorts, cohort, rest)
        advantage, below = advantage or fits, cohort


def _remaining(
    cohorts: Cohorts, node: str, requests: Mapping[Amount, int]
) -> tuple[bool, dict[Amount, int]]:
    """Return whether requests fit the quota of a node, and what exceeds what it never lends."""
    fits = True
    rest = {}
    for amount, requested in requests.items():
        fits = fits and not cohorts.borrows_with(node, amount, requested)
        rest[amount] = max(0, requested - cohorts.local_available(node, amount))
    return fits, rest


def _borrowers(
    cohorts: Cohorts, cohort: str, skipped: str, short: frozenset[Amount]
) -> Iterator[str]:
    """Yield the queues below a cohort that use more than their own quota, but for one branch."""
    for child in cohorts.children(cohort):
        if child == skipped or cohorts.is_within(child, short):
            continue
        if child in cohorts.limits:
            yield child
        else:
            yield from _borrowers(cohorts, child, skipped, short)


def _evicted(
    cohorts: Cohorts, job: Preemptor, candidates: Sequence[Candidate], *, borrowing: bool
) -> list[Running] | None:
    """Return the jobs whose eviction makes room; None when not even all candidates do."""
    evicted: list[Running] = []
    fits = False
    for candidate in candidates:
        if not _is_valid(cohorts, job, candidate, borrowing=borrowing):
            continue
        cohorts.changed(candidate.job.queue, candidate.job.usage, -1)
        evicted.append(candidate.job)
        if fits := _fits(cohorts, job, evicted, borrowing=borrowing):
            break
    needed = _needed(cohorts, job, evicted, borrowing=borrowing) if fits else evicted
    for gone in needed:
        cohorts.changed(gone.queue, gone.usage, 1)
    return needed if fits else None


def _needed(
    cohorts: Cohorts, job: Preemptor, evicted: Sequence[Running], *, borrowing: bool
) -> list[Running]:
    """Return the evicted jobs without those that can go on after all (fillBackWorkloads)."""
    needed = list(evicted)
    for victim in reversed(evicted[:-1]):
        cohorts.changed(victim.queue, victim.usage, 1)
        fewer = [other for other in needed if other is not victim]
        if _fits(cohorts, job, fewer, borrowing=borrowing):
            needed = fewer
        else:
            cohorts.changed(victim.queue, victim.usage, -1)
    return needed


def _is_valid(cohorts: Cohorts, job: Preemptor, each: Candidate, *, borrowing: bool) -> bool:
    """Return whether a candidate may still be evicted (candidateIsValid)."""
    if not each.lowest:
        return True
    if borrowing and each.reclaimed:
        return False
    path = [each.job.queue]
    for cohort in cohorts.line(each.job.queue):
        if cohort == each.lowest:
            break
        path.append(cohort)
    return not any(cohorts.is_within(node, job.short) for node in path)


def _fits(cohorts: Cohorts, job: Preemptor, evicted: Sequence[Running], *, borrowing: bool) -> bool:
    for amount, value in job.requests.items():
        if not borrowing and cohorts.borrows_with(job.queue, amount, value):
            return False
        if value > cohorts.available(job.queue, amount):
            return False
    return job.fits(evicted)
