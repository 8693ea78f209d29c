"""The jobs that Kueue evicts, in a tree of cohorts."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from tests.jobs.fit.test_cohorts import GPU, QUEUES, trees
from trainyard_jobs.fit.cohorts import Cohorts, Limits
from trainyard_jobs.fit.preemption import Preemptor, victims
from trainyard_jobs.fit.usage import Running

QUEUE = QUEUES[0]


@st.composite
def full(draw: st.DrawFn) -> tuple[Cohorts, list[Running]]:
    """A tree whose usage is that of some jobs."""
    tree = draw(trees())
    tree.usage = {}
    running = []
    for number in range(draw(st.integers(0, 5))):
        queue = draw(st.sampled_from(QUEUES))
        usage = {GPU: draw(st.integers(1, 4))}
        job = Running(f"x/{number}", queue, draw(st.integers(0, 2)), usage, {}, f"{number}")
        running.append(job)
        tree.changed(queue, usage, 1)
    return tree, running


def preemptor(tree: Cohorts, gpus: int, priority: int = 1) -> Preemptor:
    short = frozenset({GPU} if gpus > tree.available(QUEUE, GPU) else ())
    return Preemptor(QUEUE, priority, {GPU: gpus}, short, short, lambda _: True)


@given(full(), st.integers(1, 12))
def test_evictions_make_room_and_spare_who_may_not_be_evicted(
    case: tuple[Cohorts, list[Running]], gpus: int
) -> None:
    tree, running = case
    before = copy.deepcopy(tree)
    job = preemptor(tree, gpus)
    evicted = victims(tree, job, running)

    assert tree == before
    if evicted is None or not job.short:
        return
    for each in evicted:
        if each.queue == QUEUE:
            assert each.priority < job.priority
        else:
            assert before.used(each.queue, GPU) > before.nominal(each.queue, GPU)
        tree.changed(each.queue, each.usage, -1)
    assert tree.available(QUEUE, GPU) >= gpus


@given(full())
def test_an_owner_always_gets_its_own_quota_back(case: tuple[Cohorts, list[Running]]) -> None:
    """From borrowers of any priority, where nothing of its own queue runs."""
    tree, running = case
    others = [each for each in running if each.queue != QUEUE]
    for each in running:
        if each.queue == QUEUE:
            tree.changed(QUEUE, each.usage, -1)
    own = tree.nominal(QUEUE, GPU)
    fits = all(tree.available(queue, GPU) >= 0 for queue in QUEUES)
    if own and fits and own > tree.available(QUEUE, GPU):
        assert victims(tree, preemptor(tree, own, 0), others)


def borrowed(parents: dict[str, str]) -> tuple[Cohorts, list[Running]]:
    """Queue a owns 4 and uses 0; b owns 0 and uses 4; c owns 2 and uses 2."""
    limits = {
        queue: {GPU: Limits(own, None, None)} for queue, own in zip(QUEUES, (4, 0, 2), strict=True)
    }
    tree = Cohorts(parents, limits)
    running = [
        Running("x/b", QUEUES[1], 1000, {GPU: 4}, {}, "1"),
        Running("x/c", QUEUES[2], 0, {GPU: 2}, {}, "2"),
    ]
    for each in running:
        tree.changed(each.queue, each.usage, 1)
    return tree, running


def test_a_borrower_is_evicted_and_an_owner_is_not() -> None:
    tree, running = borrowed(dict.fromkeys(QUEUES, "cohort/root"))

    assert victims(tree, preemptor(tree, 2), running) == running[:1]
    assert victims(tree, preemptor(tree, 5), running) is None


def test_a_queue_without_cohort_evicts_its_own_jobs_only() -> None:
    tree = Cohorts({}, {QUEUE: {GPU: Limits(4, None, None)}})
    running = [Running(f"x/{priority}", QUEUE, priority, {GPU: 2}, {}, "1") for priority in (0, 1)]
    for each in running:
        tree.changed(QUEUE, each.usage, 1)

    assert victims(tree, preemptor(tree, 2), running) == running[:1]
    assert victims(tree, preemptor(tree, 4), running) is None


def test_the_newest_of_equal_jobs_is_evicted_first() -> None:
    tree = Cohorts({}, {QUEUE: {GPU: Limits(4, None, None)}})
    times = ("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z")
    running = [Running(f"x/{time}", QUEUE, 0, {GPU: 2}, {}, time) for time in times]
    for each in running:
        tree.changed(QUEUE, each.usage, 1)

    assert victims(tree, preemptor(tree, 2), running) == running[1:]


def test_no_more_jobs_are_evicted_than_needed() -> None:
    """The small job comes first, and goes on since the large one alone makes room."""
    tree = Cohorts({}, {QUEUE: {GPU: Limits(4, None, None)}})
    running = [
        Running("x/large", QUEUE, 0, {GPU: 3}, {}, "2026-01-01T00:00:01Z"),
        Running("x/small", QUEUE, 0, {GPU: 1}, {}, "2026-01-01T00:00:02Z"),
    ]
    for each in running:
        tree.changed(QUEUE, each.usage, 1)

    assert victims(tree, preemptor(tree, 3), running) == running[:1]
    assert victims(tree, preemptor(tree, 4), running) == [running[1], running[0]]
