"""Jobs of chosen sizes: what a rehearsal submits to fill a queue exactly, and twice."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import REPOSITORY
from trainyard.workflows.generate import generate
from trainyard_rehearsal.checks.job_templates import (
    JobTemplate,
    independent_rounds,
    job_sizes,
    one_per_flavor,
    templates_of,
)
from trainyard_rehearsal.checks.load import _jobs
from trainyard_rehearsal.checks.quotas import _expected_borrowing
from trainyard_rehearsal.publication import sample_jobs


@pytest.fixture(scope="module")
def templates() -> dict[str, list[JobTemplate]]:
    """Return the lanes of this repository's clusters."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components", (), "2026-11-21")
    platform = generation.checked.platform
    assert platform
    return {
        site.name: templates_of(sample_jobs(site, generation.manifests[site.name], ""))
        for site in platform.sites
    }


@given(st.integers(0, 200), st.integers(1, 3), st.integers(0, 20))
def test_jobs_fill_as_much_as_jobs_can(pods: int, least: int, more: int) -> None:
    """None is smaller or larger than a job may be, there are as few as can be, and no more pods
    would come out even."""
    most = least + more
    sizes = job_sizes(pods, least, most)

    assert all(least <= size <= most for size in sizes)
    assert len(sizes) == -(-sum(sizes) // most)
    even = (
        each
        for each in range(pods, -1, -1)
        if any(least * n <= each <= most * n for n in range(each + 1))
    )
    assert sum(sizes) == next(even)


def test_a_lane_reaches_what_its_team_owns_and_borrows(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """Pods of whole nodes are nodes; a share of a node has as many as it is divided into."""
    found = {
        (template.queue.name, template.own_pods, template.maximum_pods)
        for template in one_per_flavor(templates["prod-east"])
    }
    assert found == {
        ("nlp-gpu", (8,), (16,)),
        ("science-gpu", (4,), (8,)),
        ("vision-gpu", (4,), (4,)),
    }

    shares = {
        template.sample.launch.name: template.own_pods
        for template in templates["lab"]
        if template.queue.name == "speech-gpu"
    }
    assert shares["openmpi-cuda-v3-xe9680-h200-shared-3gpu-speech"] == (2,)
    assert shares["torchrun-v1-xe9680-h200-shared-6gpu-speech"] == (1,)


def test_what_a_full_queue_borrows_is_counted_in_gpus(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """8 nodes beyond its own 8 are 64 GPUs; its own are none."""
    nlp = next(
        template
        for template in one_per_flavor(templates["prod-east"])
        if template.queue.name == "nlp-gpu"
    )

    assert [_expected_borrowing(nlp, pods) for pods in (8, 16)] == ["0", "64"]


def test_rounds_hold_one_lane_of_each_queue_and_borrowers_alone(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """Every lane is in one round; nobody in a round takes what another in it counts on."""
    every = templates["prod-east"]
    found = independent_rounds(every, lambda template: sum(template.maximum_pods))

    assert sorted(map(id, every)) == sorted(id(template) for each in found for template in each)
    for each in found:
        queues = [template.queue.name for template in each]
        assert len(queues) == len(set(queues))
        assert len(each) == 1 or all(
            template.maximum_pods == template.own_pods for template in each
        )


def test_a_class_brings_its_own_deadline_or_none(templates: dict[str, list[JobTemplate]]) -> None:
    """A job of another class than its sample's must not keep the sample's deadline."""
    template = next(template for template in templates["lab"] if template.queue.name == "nlp-gpu")
    lowest, *_, highest = template.space.priorities

    low, high = (template.body("job", 2, each)["metadata"]["labels"] for each in (lowest, highest))

    assert low["kueue.x-k8s.io/max-exec-time-seconds"] == str(2 * 24 * 3600)
    assert high["kueue.x-k8s.io/priority-class"] == "production"
    assert "kueue.x-k8s.io/max-exec-time-seconds" not in high


def test_load_asks_for_twice_the_reach_and_is_the_same_each_time(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """Every queue gets jobs until they ask for twice what it may have; no job is larger than
    allowed."""
    teams = {template.space.team.name for template in templates["prod-east"]}
    once, again = (list(_jobs(templates["prod-east"], teams, random.Random("x"))) for _ in range(2))
    asked = {
        name: sum(p for template, p in once if template.queue.name == name)
        for name in ("nlp-gpu", "science-gpu")
    }

    assert [(template.sample.name, pods) for template, pods in once] == [
        (template.sample.name, pods) for template, pods in again
    ]
    assert asked["nlp-gpu"] >= 32
    assert asked["science-gpu"] >= 16
    assert all(template.smallest <= pods <= template.grant.nodes for template, pods in once)


def test_load_of_teams_that_are_not_tried_is_their_quota(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """They fill the cluster, so that who is tried finds no more than its own; nobody's smallest job
    is left out."""
    jobs = list(_jobs(templates["prod-east"], {"nlp"}, random.Random("x")))
    asked = {
        template.queue.name: sum(p for each, p in jobs if each.queue is template.queue)
        for template in templates["prod-east"]
    }
    largest = {
        template.queue.name: max(p for each, p in jobs if each.queue is template.queue)
        for template, _ in jobs
    }
    own = {
        template.queue.name: sum(flavor.quota.nodes for flavor in template.queue.flavors)
        for template in templates["prod-east"]
    }

    assert asked["nlp-gpu"] >= 32
    assert own.keys() > {"nlp-gpu"}
    assert all(
        own[name] <= asked[name] < own[name] + largest[name]
        for name in own.keys() - {"nlp-gpu"}
        if own[name]
    )
    assert all(asked[name] == 0 for name in own if not own[name])
