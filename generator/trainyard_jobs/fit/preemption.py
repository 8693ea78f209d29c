"""Which running jobs Kueue would evict for a job that finds no free quota.

Source: kubernetes-sigs/kueue:pkg/scheduler/preemption/{preemption.go,classical} @v0.19.2, for the
policies of the tree: ``withinClusterQueue: LowerPriority``, ``reclaimWithinCohort: Any``,
``borrowWithinCohort: Never``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard_jobs.fit.cohorts import Amount, Cohorts, Usage
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
    search = _Search(cohorts, job)
    if not all(map(search.may_preempt, job.scarce)):
        return None
    candidates = list(search.candidates(running))
    for borrowing in search.attempts(candidates):
        evicted = search.evicted(candidates, borrowing=borrowing)
        if evicted is not None:
            return evicted
    return None


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for jobs to evict; the usage of the queues is that of before when it ends."""

    cohorts: Cohorts
    job: Preemptor

    def may_preempt(self, amount: Amount) -> bool:
        """Return whether Kueue looks for jobs to evict at all (fitsResourceQuota).

        What is requested must fit the queue's own quota, or that of a cohort below the root
        (FindHeightOfLowestSubtreeThatFits).
        """
        cohorts, queue = self.cohorts, self.job.queue
        rest = self.job.requests[amount]
        if rest <= cohorts.nominal(queue, amount):
            return True
        for node in (queue, *cohorts.line(queue)):
            if not cohorts.borrows_with(node, amount, rest):
                return node in cohorts.parents
            rest -= cohorts.local_available(node, amount)
        return False

    def attempts(self, candidates: Sequence[Candidate]) -> tuple[bool, ...]:
        """Return whether each attempt may borrow, in Kueue's order (classicalPreemptions)."""
        queue = self.job.queue
        others = [candidate for candidate in candidates if candidate.lowest]
        for amount in self.job.short:
            if self.cohorts.used(queue, amount) >= self.cohorts.nominal(queue, amount):
                return (True,)
        if not others:
            return (True,)
        return (False, True) if all(other.reclaimed for other in others) else (True, False)

    def candidates(self, running: Sequence[Running]) -> Iterator[Candidate]:
        """Yield the jobs that may be evicted: of cohorts first, then of the same queue."""
        using = [other for other in running if self.job.short & other.usage.keys()]
        using.sort(key=lambda other: (other.priority, _newest_first(other.since), other.job))
        for advantage, lowest, queue in self._queues():
            for other in using:
                if other.queue == queue:
                    yield Candidate(other, lowest, reclaimed=not advantage)
        yield from self._of_same_queue(using)

    def _of_same_queue(self, using: Sequence[Running]) -> Iterator[Candidate]:
        for other in using:
            if other.queue == self.job.queue and other.priority < self.job.priority:
                yield Candidate(other, "", reclaimed=False)

    def _queues(self) -> Iterator[tuple[bool, str, str]]:
        """Yield each queue that uses more than its own, with how it is related to the job's.

        Each has whether the job's queue has an advantage over it, and their lowest common cohort
        (collectCandidatesForHierarchicalReclaim).
        """
        below = self.job.queue
        advantage, rest = self._remaining(below, self.job.requests)
        for cohort in self.cohorts.line(below):
            for queue in self._borrowers(cohort, below):
                yield advantage, cohort, queue
            fits, rest = self._remaining(cohort, rest)
            advantage, below = advantage or fits, cohort

    def _remaining(self, node: str, requests: Mapping[Amount, int]) -> tuple[bool, Usage]:
        """Return whether requests fit the quota of a node, and what exceeds what it never lends."""
        fits = True
        rest = {}
        for amount, requested in requests.items():
            fits = fits and not self.cohorts.borrows_with(node, amount, requested)
            rest[amount] = max(0, requested - self.cohorts.local_available(node, amount))
        return fits, rest

    def _borrowers(self, cohort: str, skipped: str) -> Iterator[str]:
        """Yield the queues below a cohort that use more than their own, but for one branch."""
        for child in self.cohorts.children(cohort):
            if child == skipped or self.cohorts.is_within(child, self.job.short):
                continue
            if child in self.cohorts.limits:
                yield child
            else:
                yield from self._borrowers(child, skipped)

    def evicted(self, candidates: Sequence[Candidate], *, borrowing: bool) -> list[Running] | None:
        """Return the jobs whose eviction makes room; None when not even all candidates do."""
        evicted: list[Running] = []
        fits = False
        for candidate in candidates:
            if not self._is_valid(candidate, borrowing=borrowing):
                continue
            self._change(candidate.job, -1)
            evicted.append(candidate.job)
            if fits := self._fits(evicted, borrowing=borrowing):
                break
        needed = self._needed(evicted, borrowing=borrowing) if fits else evicted
        for gone in needed:
            self._change(gone, 1)
        return needed if fits else None

    def _change(self, job: Running, sign: int) -> None:
        self.cohorts.changed(job.queue, job.usage, sign)

    def _needed(self, evicted: Sequence[Running], *, borrowing: bool) -> list[Running]:
        """Return the evicted jobs without those that can go on after all (fillBackWorkloads)."""
        needed = list(evicted)
        for victim in reversed(evicted[:-1]):
            self._change(victim, 1)
            fewer = [other for other in needed if other is not victim]
            if self._fits(fewer, borrowing=borrowing):
                needed = fewer
            else:
                self._change(victim, -1)
        return needed

    def _is_valid(self, candidate: Candidate, *, borrowing: bool) -> bool:
        """Return whether a candidate may still be evicted (candidateIsValid)."""
        if not candidate.lowest:
            return True
        if borrowing and candidate.reclaimed:
            return False
        queue = candidate.job.queue
        for node in (queue, *self.cohorts.line(queue)):
            if node == candidate.lowest:
                break
            if self.cohorts.is_within(node, self.job.short):
                return False
        return True

    def _fits(self, evicted: Sequence[Running], *, borrowing: bool) -> bool:
        queue = self.job.queue
        for amount, value in self.job.requests.items():
            if not borrowing and self.cohorts.borrows_with(queue, amount, value):
                return False
            if value > self.cohorts.available(queue, amount):
                return False
        return self.job.fits(evicted)


def _newest_first(since: str) -> tuple[int, ...]:
    return tuple(-ord(char) for char in since)
