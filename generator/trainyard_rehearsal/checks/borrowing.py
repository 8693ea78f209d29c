"""Check that owners reclaim nodes that they lend, and keep those beyond their lending limit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from trainyard_rehearsal.checks.full_queues import (
    Preemption,
    Trial,
    check_preemptions,
    failure_if,
    prefixed,
    waiting_problem,
)
from trainyard_rehearsal.checks.job_batch import JobBatch, describe_waiting, wait_for_admission
from trainyard_rehearsal.checks.job_templates import JobTemplate
from trainyard_rehearsal.checks.jobs import Job
from trainyard_rehearsal.checks.lending import Lending, LendingPair
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure

_Check = Callable[[Lab, Sequence[JobTemplate], LendingPair], Iterator[Failure]]


def borrowing_trials(
    lab: Lab, templates: Sequence[JobTemplate], teams: Collection[str]
) -> Iterator[Trial]:
    """Yield the trials of queues that lend and borrow.

    Args:
        lab: with the tree applied.
        templates: of all teams, one for each flavor of each queue.
        teams: names of those that are tried.
    """
    pairs = _pairs_of(Lending(lab.plan.site, templates), teams)
    reclaiming = [pair for pair in pairs if pair.forces_reclaim]
    limited = [pair for pair in pairs if pair.shows_limit]
    every = {template.space.team.name for template in templates}
    if not every.issubset(teams):
        reclaiming, limited = _one_of_each(reclaiming), _one_of_each(limited)
    reclaims = _check_pairs(_reclaim, lab, templates, reclaiming)
    yield Trial("owner reclaims lent nodes", len(reclaiming), reclaims)
    limits = _check_pairs(_lending_limit, lab, templates, limited)
    yield Trial("lending limit holds", len(limited), limits)


def _pairs_of(lending: Lending, teams: Collection[str]) -> list[LendingPair]:
    return [pair for pair in lending.pairs() if _is_of(pair, teams)]


def _is_of(pair: LendingPair, teams: Collection[str]) -> bool:
    return {pair.borrower.space.team.name, pair.owner.space.team.name} <= set(teams)


def _one_of_each(pairs: Sequence[LendingPair]) -> list[LendingPair]:
    """Return pairs such that each borrower and each owner is in at least one of them."""
    borrowers: set[str] = set()
    owners: set[str] = set()
    found = []
    for pair in pairs:
        if pair.borrower.name not in borrowers or pair.owner.name not in owners:
            borrowers.add(pair.borrower.name)
            owners.add(pair.owner.name)
            found.append(pair)
    return found


def _check_pairs(
    check: _Check, lab: Lab, templates: Sequence[JobTemplate], pairs: Sequence[LendingPair]
) -> Iterator[Failure]:
    """Run a check with each pair; name both queues, since an owner lends to several."""
    for pair in pairs:
        what = f"ClusterQueue {pair.borrower.queue.name} with nodes of {pair.owner.queue.name}"
        for failure in check(lab, templates, pair):
            yield replace(failure, what=what)


def _reclaim(lab: Lab, templates: Sequence[JobTemplate], pair: LendingPair) -> Iterator[Failure]:
    """Submit the owner's jobs while its nodes are lent; yield a failure unless they preempt."""
    with JobBatch(lab) as batch:
        others, borrowing = _lend_out(batch, templates, pair)
        wait_for_admission(lab, [*others, *borrowing])
        waiting = describe_waiting([*others, *borrowing])
        yield from failure_if(pair.owner, prefixed("nothing is lent", waiting))
        reclaiming = batch.fill(pair.owner, pair.owner.own_pods)
        yield from check_preemptions(lab, batch, [Preemption(pair.owner, borrowing, reclaiming)])


def _lending_limit(
    lab: Lab, templates: Sequence[JobTemplate], pair: LendingPair
) -> Iterator[Failure]:
    """Borrow everything that is lent; another job must wait while the owner has free nodes."""
    with JobBatch(lab) as batch:
        others, borrowing = _lend_out(batch, templates, pair)
        wait_for_admission(lab, [*others, *borrowing])
        waiting = describe_waiting([*others, *borrowing])
        yield from failure_if(pair.owner, prefixed("less is lent", waiting))
        another = batch.add(pair.borrower, pair.borrower.smallest)
        yield from failure_if(pair.owner, waiting_problem(lab, another, pair.borrower))


def _lend_out(
    batch: JobBatch, templates: Sequence[JobTemplate], pair: LendingPair
) -> tuple[list[Job], list[Job]]:
    """Fill every queue of the pool except the owner's; the borrower also takes all that is lent.

    Returns:
        Jobs of the others, and jobs of the borrower.
    """
    busy = {pair.borrower.queue.name, pair.owner.queue.name}
    pool = pair.owner.flavors[0].name
    jobs: list[Job] = []
    for template in templates:
        if template.queue.name not in busy and template.flavors[0].name == pool:
            jobs += batch.fill(template, template.own_pods)
    return jobs, batch.fill(pair.borrower, [sum(pair.borrower.own_pods) + pair.lent])
