"""Jobs of chosen sizes: what a rehearsal submits to fill a queue exactly, and twice."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import REPOSITORY
from trainyard.workflows.generate import generate
from trainyard_rehearsal.checks.lanes import Lane, by_flavor, find_lanes, rounds, split
from trainyard_rehearsal.checks.ledger import _borrowing
from trainyard_rehearsal.checks.load import _jobs
from trainyard_rehearsal.publication import sample_jobs


@pytest.fixture(scope="module")
def lanes() -> dict[str, list[Lane]]:
    """Return the lanes of this repository's clusters."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components", (), "2026-11-21")
    platform = generation.checked.platform
    assert platform
    return {
        site.name: find_lanes(sample_jobs(site, generation.manifests[site.name], ""))
        for site in platform.sites
    }


@given(st.integers(0, 200), st.integers(1, 3), st.integers(0, 20))
def test_jobs_fill_as_much_as_jobs_can(pods: int, least: int, more: int) -> None:
    """None is smaller or larger than a job may be, there are as few as can be, and no more pods
    would come out even."""
    most = least + more
    sizes = split(pods, least, most)

    assert all(least <= size <= most for size in sizes)
    assert len(sizes) == -(-sum(sizes) // most)
    even = (
        each
        for each in range(pods, -1, -1)
        if any(least * n <= each <= most * n for n in range(each + 1))
    )
    assert sum(sizes) == next(even)


def test_a_lane_reaches_what_its_team_owns_and_borrows(lanes: dict[str, list[Lane]]) -> None:
    """Pods of whole nodes are nodes; a share of a node has as many as it is divided into."""
    found = {(lane.queue.name, lane.own, lane.maximum) for lane in by_flavor(lanes["prod-east"])}
    assert found == {
        ("nlp-gpu", (8,), (16,)),
        ("science-gpu", (4,), (8,)),
        ("vision-gpu", (4,), (4,)),
    }

    shares = {
        lane.sample.launch.name: lane.own
        for lane in lanes["lab"]
        if lane.queue.name == "speech-gpu"
    }
    assert shares["openmpi-cuda-v3-xe9680-h200-shared-3gpu-speech"] == (2,)
    assert shares["torchrun-v1-xe9680-h200-shared-6gpu-speech"] == (1,)


def test_what_a_full_queue_borrows_is_counted_in_gpus(lanes: dict[str, list[Lane]]) -> None:
    """8 nodes beyond its own 8 are 64 GPUs; its own are none."""
    nlp = next(lane for lane in by_flavor(lanes["prod-east"]) if lane.queue.name == "nlp-gpu")

    assert [_borrowing(nlp, pods) for pods in (8, 16)] == ["0", "64"]


def test_rounds_hold_one_lane_of_each_queue_and_borrowers_alone(
    lanes: dict[str, list[Lane]],
) -> None:
    """Every lane is in one round; nobody in a round takes what another in it counts on."""
    every = lanes["prod-east"]
    found = rounds(every, lambda lane: sum(lane.maximum))

    assert sorted(map(id, every)) == sorted(id(lane) for each in found for lane in each)
    for each in found:
        queues = [lane.queue.name for lane in each]
        assert len(queues) == len(set(queues))
        assert len(each) == 1 or all(lane.maximum == lane.own for lane in each)


def test_a_class_brings_its_own_deadline_or_none(lanes: dict[str, list[Lane]]) -> None:
    """A job of another class than its sample's must not keep the sample's deadline."""
    lane = next(lane for lane in lanes["lab"] if lane.queue.name == "nlp-gpu")
    lowest, *_, highest = lane.space.priorities

    low, high = (lane.body("job", 2, each)["metadata"]["labels"] for each in (lowest, highest))

    assert low["kueue.x-k8s.io/max-exec-time-seconds"] == str(2 * 24 * 3600)
    assert high["kueue.x-k8s.io/priority-class"] == "production"
    assert "kueue.x-k8s.io/max-exec-time-seconds" not in high


def test_load_asks_for_twice_the_reach_and_is_the_same_each_time(
    lanes: dict[str, list[Lane]],
) -> None:
    """Every queue gets jobs until they ask for twice what it may have; no job is larger than
    allowed."""
    teams = {lane.space.team.name for lane in lanes["prod-east"]}
    once, again = (list(_jobs(lanes["prod-east"], teams, random.Random("x"))) for _ in range(2))
    asked = {
        name: sum(p for lane, p in once if lane.queue.name == name)
        for name in ("nlp-gpu", "science-gpu")
    }

    assert [(lane.sample.name, pods) for lane, pods in once] == [
        (lane.sample.name, pods) for lane, pods in again
    ]
    assert asked["nlp-gpu"] >= 32
    assert asked["science-gpu"] >= 16
    assert all(lane.least <= pods <= lane.grant.nodes for lane, pods in once)


def test_load_of_teams_that_are_not_tried_is_their_quota(lanes: dict[str, list[Lane]]) -> None:
    """They fill the cluster, so that who is tried finds no more than its own; nobody's smallest job
    is left out."""
    jobs = list(_jobs(lanes["prod-east"], {"nlp"}, random.Random("x")))
    asked = {
        lane.queue.name: sum(p for each, p in jobs if each.queue is lane.queue)
        for lane in lanes["prod-east"]
    }
    largest = {
        lane.queue.name: max(p for each, p in jobs if each.queue is lane.queue) for lane, _ in jobs
    }
    own = {
        lane.queue.name: sum(flavor.quota.nodes for flavor in lane.queue.flavors)
        for lane in lanes["prod-east"]
    }

    assert asked["nlp-gpu"] >= 32
    assert own.keys() > {"nlp-gpu"}
    assert all(
        own[name] <= asked[name] < own[name] + largest[name]
        for name in own.keys() - {"nlp-gpu"}
        if own[name]
    )
    assert all(asked[name] == 0 for name in own if not own[name])
