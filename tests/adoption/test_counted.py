"""Resources that the tree's queues count and the site's did not, with what jobs ask for."""

from __future__ import annotations

import pytest

from tests.adoption.own import own_site
from tests.adoption.sites import Body, body, flavor, local, node, queue, racks
from tests.adoption.test_properties import drafted
from trainyard.adoption.model import Mark
from trainyard.diagnostics import TreeError

PART = "team vision"


def workload(name: str, namespace: str, *sets: tuple[int, dict[str, str]], **spec: object) -> Body:
    """Return the Workload of a Job with sets of pods: their number, and what each requests."""
    pod_sets = [
        {"count": n, "template": {"spec": {"containers": [{"resources": {"requests": asked}}]}}}
        for n, asked in sets
    ]
    api = "kueue.x-k8s.io/v1beta1"
    found = body(api, "Workload", f"job-{name}", namespace, spec={"podSets": pod_sets, **spec})
    found["metadata"]["ownerReferences"] = [{"kind": "Job", "name": name, "controller": True}]
    return found


def site(*more: Body, gpus: str = "8", **counted: str) -> list[Body]:
    """Team `vision` on a pool of two nodes, each with 216 CPUs."""
    return [
        *(node(f"n{number}", labels={"pool": "a"}) for number in range(2)),
        flavor("a", {"pool": "a"}),
        queue("vision", "", {"a": {"nvidia.com/gpu": gpus, **counted}}),
        local("vision", "jobs", "vision"),
        *more,
    ]


def listed(bodies: list[Body]) -> dict[str, list[str]]:
    """Return what is said of what is newly counted, and of each job, by its part."""
    found: dict[str, list[str]] = {}
    for each in drafted(bodies).remarks:
        if "newly counted" in each.text or "never starts there" in each.text:
            found.setdefault(each.part, []).append(each.text)
    return found


def test_what_the_queue_did_not_count_is_listed_with_the_new_quota() -> None:
    idle = listed(site(cpu="200"))
    assert idle == {
        PART: ["newly counted on a: memory (2064283Mi), ephemeral-storage (1600Gi), pods (249)"]
    }


def test_requests_of_jobs_are_compared_with_the_quota() -> None:
    """Of those that run and that wait, all their pods; not of one that ended or is inactive."""
    done = workload("old", "vision", (1, {"cpu": "1"}))
    done["status"] = {"conditions": [{"type": "Finished", "status": "True"}]}
    jobs = [
        workload("a", "vision", (1, {"cpu": "10"}), (3, {"cpu": "20", "memory": "1Ti"})),
        workload("b", "vision", (2, {"cpu": "50", "nvidia.com/gpu": "4"})),
        workload("held", "vision", (1, {"cpu": "1"}), active=False),
        workload("other", "elsewhere", (1, {"cpu": "1"})),
        done,
    ]
    (text,) = listed(site(*jobs))[PART]
    assert text == (
        "newly counted on a: cpu (its jobs ask 170 of 216), memory (its jobs ask 3Ti of "
        "2064283Mi), ephemeral-storage (its jobs ask 0 of 1600Gi), pods (its jobs ask 6 of 249)"
    )


def test_job_that_asks_for_more_than_the_quota_is_named() -> None:
    """A sum above it only waits; a job alone never starts."""
    jobs = [workload(name, "vision", (2, {"cpu": "100"})) for name in ("fits", "too")]
    jobs.append(workload("never", "vision", (2, {"cpu": "109"})))
    found = listed(site(*jobs))
    assert list(found) == [PART, "Job vision/never"]
    (text,) = found["Job vision/never"]
    assert text == (
        "it asks for 218 cpu, and team vision has 216 on a, with what it may borrow: it never "
        "starts there"
    )
    assert "cpu (its jobs ask 618 of 216)" in found[PART][0]


def test_quota_that_is_a_choice_is_not_compared() -> None:
    found = listed(site(workload("j", "vision", (9, {"cpu": "900"})), gpus="12"))
    assert found == {PART: ["newly counted on a: cpu, memory, ephemeral-storage, pods"]}


def test_jobs_of_several_pools_are_not_compared() -> None:
    """Nobody knows on which one a job that waits will be."""
    cell = {"nvidia.com/gpu": "8"}
    bodies = [
        *(node(name, labels={"pool": name}) for name in "ab"),
        *(flavor(name, {"pool": name}) for name in "ab"),
        queue("vision", "", {"a": cell, "b": cell}),
        local("vision", "jobs", "vision"),
        workload("j", "vision", (9, {"cpu": "900"})),
    ]
    found = listed(bodies)
    assert list(found) == [PART]
    assert [text.split(" (")[0] for text in found[PART]] == [
        f"newly counted on {name}: cpu" for name in "ab"
    ]
    assert not any("ask" in text for text in found[PART])


def test_rails_of_a_fabric_are_newly_counted_where_no_queue_has_a_device() -> None:
    assert all(text.endswith(", the rails of fabric roce") for (text,) in listed(racks()).values())


def test_own_tree_counts_nothing_new() -> None:
    for cluster in ("lab", "prod-east"):
        _, bodies = own_site(cluster)
        assert listed(bodies) == {}


def test_request_that_is_no_quantity_is_an_error_of_its_workload() -> None:
    with pytest.raises(TreeError, match=r"^Workload vision/job-j: cpu is not a quantity: 'abc'"):
        listed(site(workload("j", "vision", (1, {"cpu": "abc"}))))


def test_what_it_means_is_said_once() -> None:
    remarks = drafted(racks()).remarks
    assert [each.mark for each in remarks if each.part == "Resources newly counted"] == [
        Mark.CHANGED
    ]
