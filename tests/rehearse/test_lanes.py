"""Jobs of chosen sizes: what a rehearsal submits to fill a queue exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.pipeline import generate
from generator.rehearsal import _samples
from generator.rehearse.lanes import Lane, by_flavor, find_lanes, split
from generator.rehearse.ledger import _borrowing
from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def lanes() -> dict[str, list[Lane]]:
    """Return the lanes of this repository's clusters."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components", (), "2026-11-21")
    platform = generation.checked.platform
    assert platform
    return {site.name: find_lanes(_samples(site, generation.manifests[site.name], "")) for site in platform.sites}


@given(st.integers(0, 200), st.integers(1, 3), st.integers(0, 20))
def test_jobs_fill_exactly_or_not_at_all(pods: int, least: int, more: int) -> None:
    """Together they have every pod, none is smaller or larger than a job may be, and there are as few as can be."""
    most = least + more
    sizes = split(pods, least, most)

    assert sum(sizes) in {0, pods}
    assert all(least <= size <= most for size in sizes)
    assert len(sizes) == (-(-pods // most) if sizes else 0)
    assert bool(sizes) == any(least * count <= pods <= most * count for count in range(1, pods + 1))


def test_a_lane_reaches_what_its_team_owns_and_borrows(lanes: dict[str, list[Lane]]) -> None:
    """Pods of whole nodes are nodes; a share of a node has as many as it is divided into."""
    found = {(lane.queue.name, lane.own, lane.reach) for lane in by_flavor(lanes["prod-east"])}
    assert found == {("nlp-gpu", (8,), (16,)), ("science-gpu", (4,), (8,)), ("vision-gpu", (4,), (4,))}

    shares = {lane.sample.launch.name: lane.own for lane in lanes["lab"] if lane.queue.name == "speech-gpu"}
    assert shares["openmpi-cuda-v3-xe9680-h200-3gpu-speech"] == (2,)
    assert shares["torchrun-v1-xe9680-h200-6gpu-speech"] == (1,)


def test_what_a_full_queue_borrows_is_counted_in_gpus(lanes: dict[str, list[Lane]]) -> None:
    """8 nodes beyond its own 8 are 64 GPUs; its own are none."""
    nlp = next(lane for lane in by_flavor(lanes["prod-east"]) if lane.queue.name == "nlp-gpu")

    assert [_borrowing(nlp, pods) for pods in (8, 16)] == ["0", "64"]
