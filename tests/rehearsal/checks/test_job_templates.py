"""Templates of jobs, their sizes, and the load that a rehearsal submits."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import REPOSITORY
from trainyard.generation.generate import generate
from trainyard_rehearsal.checks.job_templates import (
    JobTemplate,
    independent_rounds,
    job_sizes,
    one_per_flavor,
    sizes_beyond_quota,
    templates_of,
)
from trainyard_rehearsal.checks.load import _jobs
from trainyard_rehearsal.checks.quotas import _expected_borrowing
from trainyard_rehearsal.publication import sample_jobs


@pytest.fixture(scope="module")
def templates() -> dict[str, list[JobTemplate]]:
    """Return the templates of this repository's clusters."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components", (), "2026-11-21")
    platform = generation.checked.platform
    assert platform
    return {
        site.name: templates_of(sample_jobs(site, generation.manifests[site.name], ""))
        for site in platform.sites
    }


@given(st.integers(0, 200), st.integers(1, 3), st.integers(0, 20))
def test_jobs_of_permitted_sizes_fill_a_quota(pods: int, smallest: int, more: int) -> None:
    """There are as few jobs as possible, and no more pods can be used."""
    largest = smallest + more
    sizes = job_sizes(pods, smallest, largest)

    assert all(smallest <= size <= largest for size in sizes)
    assert len(sizes) == -(-sum(sizes) // largest)
    even = (
        each
        for each in range(pods, -1, -1)
        if any(smallest * n <= each <= largest * n for n in range(each + 1))
    )
    assert sum(sizes) == next(even)


def test_template_holds_pods_of_own_and_borrowed_nodes(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """A pod takes a whole node, or a share of it."""
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


def test_borrowing_of_a_full_queue_is_counted_in_gpus(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """8 nodes beyond its own 8 are 64 GPUs. A queue within its quota borrows none."""
    nlp = next(
        template
        for template in one_per_flavor(templates["prod-east"])
        if template.queue.name == "nlp-gpu"
    )

    assert [_expected_borrowing(nlp, pods) for pods in (8, 16)] == ["0", "64"]


def test_round_has_one_template_of_each_queue_and_borrowers_are_alone(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """Every template is in one round, whose jobs take no quota from each other."""
    every = templates["prod-east"]
    found = independent_rounds(every, lambda template: sum(template.maximum_pods))

    assert sorted(map(id, every)) == sorted(id(template) for each in found for template in each)
    for each in found:
        queues = [template.queue.name for template in each]
        assert len(queues) == len(set(queues))
        assert len(each) == 1 or all(
            template.maximum_pods == template.own_pods for template in each
        )


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_jobs_beyond_a_quota_differ_in_size(
    templates: dict[str, list[JobTemplate]], cluster: str
) -> None:
    """Kueue gives no reason to a job that equals a waiting one of its queue, as jobs of two
    namespaces of one team do."""
    jobs = sizes_beyond_quota(templates[cluster])
    sizes = [(template.queue.name, pods) for template, pods in jobs]

    assert [template for template, _ in jobs] == templates[cluster]
    assert len(sizes) == len(set(sizes))
    assert all(pods > sum(template.maximum_pods) for template, pods in jobs)
    assert {queue for queue, _ in sizes} == {
        template.queue.name for template, pods in jobs if pods == sum(template.maximum_pods) + 1
    }


def test_priority_class_sets_its_own_deadline(templates: dict[str, list[JobTemplate]]) -> None:
    """A job of another class must not keep the deadline of the sample's class."""
    template = next(template for template in templates["lab"] if template.queue.name == "nlp-gpu")
    lowest, *_, highest = template.space.priorities

    low, high = (template.body("job", 2, each)["metadata"]["labels"] for each in (lowest, highest))

    assert low["kueue.x-k8s.io/max-exec-time-seconds"] == str(2 * 24 * 3600)
    assert high["kueue.x-k8s.io/priority-class"] == "production"
    assert "kueue.x-k8s.io/max-exec-time-seconds" not in high


Load = list[tuple[JobTemplate, int]]


def _load(templates: list[JobTemplate], teams: set[str]) -> Load:
    return list(_jobs(templates, teams, random.Random("x")))


def _pods(load: Load, queue: str) -> list[int]:
    return [pods for template, pods in load if template.queue.name == queue]


def test_load_is_twice_the_maximum_and_reproducible(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """No job is larger than permitted."""
    every = templates["prod-east"]
    teams = {template.space.team.name for template in every}
    load = _load(every, teams)

    assert load == _load(every, teams)
    assert sum(_pods(load, "nlp-gpu")) >= 32
    assert sum(_pods(load, "science-gpu")) >= 16
    assert all(template.smallest <= pods <= template.grant.nodes for template, pods in load)


def test_load_of_other_teams_is_their_nominal_quota(
    templates: dict[str, list[JobTemplate]],
) -> None:
    """They fill the cluster, so that tried teams find no idle nodes."""
    load = _load(templates["prod-east"], {"nlp"})
    own = {
        template.queue.name: sum(flavor.quota.nodes for flavor in template.queue.flavors)
        for template in templates["prod-east"]
    }

    assert sum(_pods(load, "nlp-gpu")) >= 32
    assert own.keys() > {"nlp-gpu"}
    for queue in own.keys() - {"nlp-gpu"}:
        pods = _pods(load, queue)
        assert own[queue] <= sum(pods)
        assert sum(pods) < own[queue] + max(pods) if own[queue] else pods == []
