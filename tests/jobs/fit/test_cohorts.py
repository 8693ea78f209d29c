"""Quota in a tree of cohorts, by Kueue's arithmetic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainyard_jobs.fit.cohorts import Cohorts, Limits

GPU = ("h100", "nvidia.com/gpu")
QUEUES = ("queue/a", "queue/b", "queue/c")


@st.composite
def trees(draw: st.DrawFn) -> Cohorts:
    """Three queues in a root cohort or in one below it, with any limits and usage."""
    parents = {"cohort/low": "cohort/root"}
    limits, usage = {}, {}
    for queue in QUEUES:
        parents[queue] = draw(st.sampled_from(["cohort/low", "cohort/root"]))
        own = draw(st.integers(0, 8))
        most = st.none() | st.integers(0, 8)
        limits[queue] = {GPU: Limits(own, draw(most), draw(most))}
        usage[queue] = {GPU: draw(st.integers(0, 12))}
    return Cohorts(parents, limits, usage)


@given(trees())
def test_unused_queues_have_all_that_they_can_ever_use(tree: Cohorts) -> None:
    tree.usage = {}
    for queue in QUEUES:
        assert tree.available(queue, GPU) == tree.potential(queue, GPU)
        assert tree.potential(queue, GPU) >= tree.nominal(queue, GPU)


@given(trees())
def test_no_queue_has_more_than_it_could_ever_use(tree: Cohorts) -> None:
    for queue in QUEUES:
        assert tree.available(queue, GPU) <= tree.potential(queue, GPU)
        found = tree.limits[queue][GPU]
        if found.borrowing is not None:
            assert tree.potential(queue, GPU) <= found.nominal + found.borrowing


@given(trees(), st.sampled_from(QUEUES), st.integers(1, 4))
def test_what_a_queue_takes_is_available_to_none(tree: Cohorts, queue: str, more: int) -> None:
    before = {each: tree.available(each, GPU) for each in QUEUES}
    tree.changed(queue, {GPU: more}, 1)

    assert tree.available(queue, GPU) == before[queue] - more
    assert all(tree.available(each, GPU) <= before[each] for each in QUEUES)
    tree.changed(queue, {GPU: more}, -1)
    assert {each: tree.available(each, GPU) for each in QUEUES} == before


def test_limits_of_lending_and_borrowing_hold() -> None:
    """As seen with Kueue 0.19.2: 4 own + 1 lent by b + 1 of c, and b uses no more than its own."""
    limits = {
        "queue/a": {GPU: Limits(4, 2, None)},
        "queue/b": {GPU: Limits(3, 0, 1)},
        "queue/c": {GPU: Limits(1, None, None)},
    }
    tree = Cohorts(dict.fromkeys(limits, "cohort/root"), limits)

    assert [tree.potential(queue, GPU) for queue in limits] == [6, 3, 6]
    tree.changed("queue/a", {GPU: 6}, 1)
    assert [tree.available(queue, GPU) for queue in limits] == [0, 2, 0]


def test_a_queue_without_cohort_has_its_own() -> None:
    tree = Cohorts({}, {"queue/a": {GPU: Limits(4, None, None)}}, {"queue/a": {GPU: 3}})

    assert (tree.available("queue/a", GPU), tree.potential("queue/a", GPU)) == (1, 4)
    assert list(tree.line("queue/a")) == []
