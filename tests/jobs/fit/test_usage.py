"""What objects of a cluster show as used."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard_jobs.fit.usage import snapshot_of


def workload(**status: Any) -> dict[str, Any]:
    slices = [
        {
            "domainCount": 2,
            "valuesPerLevel": [{"individual": {"prefix": "node-", "roots": ["1", "2"]}}],
            "podCounts": {"universal": 2},
        },
        {
            "domainCount": 1,
            "valuesPerLevel": [{"universal": "other"}],
            "podCounts": {"individual": [1]},
        },
    ]
    assignment = {
        "name": "node",
        "count": 5,
        "flavors": {"cpu": "h100", "nvidia.com/gpu": "h100"},
        "resourceUsage": {"cpu": "5", "nvidia.com/gpu": "10"},
        "topologyAssignment": {"levels": ["kubernetes.io/hostname"], "slices": slices},
    }
    admission = {"clusterQueue": "nlp-gpu", "podSetAssignments": [assignment]}
    return {
        "kind": "Workload",
        "metadata": {"namespace": "team-nlp", "name": "a"},
        "spec": {"priority": 500},
        "status": {"admission": admission, "conditions": [], **status},
    }


def test_a_running_job_uses_quota_and_nodes() -> None:
    (job,) = snapshot_of([workload()]).running

    assert (job.job, job.queue, job.priority) == ("team-nlp/a", "queue/nlp-gpu", 500)
    assert job.usage == {("h100", "cpu"): 5000, ("h100", "nvidia.com/gpu"): 10}
    assert {node: each["nvidia.com/gpu"] for node, each in job.nodes.items()} == {
        "node-1": 4,
        "node-2": 4,
        "other": 2,
    }


@pytest.mark.parametrize(
    "status", [{"admission": None}, {"conditions": [{"type": "Finished", "status": "True"}]}]
)
def test_a_waiting_or_finished_job_uses_nothing(status: dict[str, Any]) -> None:
    assert snapshot_of([workload(**status)]).running == ()


def test_queues_and_quotas_show_what_is_used() -> None:
    reserved = [{"name": "h100", "resources": [{"name": "memory", "total": "2Gi"}]}]
    bodies: list[dict[str, Any]] = [
        {
            "kind": "ClusterQueue",
            "metadata": {"name": "nlp-gpu"},
            "status": {"flavorsReservation": reserved},
        },
        {
            "kind": "ResourceQuota",
            "metadata": {"namespace": "team-nlp", "name": "counts"},
            "status": {"used": {"pods": "3"}},
        },
        {"kind": "Node", "metadata": {"name": "x"}},
    ]
    found = snapshot_of(bodies)

    assert found.queues == {"queue/nlp-gpu": {("h100", "memory"): 2 << 30}}
    assert found.quotas == {("team-nlp", "counts"): {"pods": "3"}}
    assert not found.has_jobs


def test_an_amount_that_is_no_quantity_is_refused() -> None:
    reserved = [{"name": "h100", "resources": [{"name": "cpu", "total": "much"}]}]
    body = {
        "kind": "ClusterQueue",
        "metadata": {"name": "a"},
        "status": {"flavorsReservation": reserved},
    }
    with pytest.raises(ValueError, match="not a quantity"):
        snapshot_of([body])


INACTIVE = {"type": "Active", "status": "False", "message": "references missing ResourceFlavor(s)"}


@pytest.mark.parametrize(
    ("spec", "conditions", "why"),
    [
        ({}, [], None),
        ({"stopPolicy": "None"}, [{**INACTIVE, "status": "True"}], None),
        ({"stopPolicy": "Hold"}, [INACTIVE], "its stopPolicy is Hold"),
        ({}, [INACTIVE], "references missing ResourceFlavor(s)"),
    ],
)
def test_a_queue_that_admits_nothing_shows_why(
    spec: dict[str, Any], conditions: list[dict[str, Any]], why: str | None
) -> None:
    body = {
        "kind": "ClusterQueue",
        "metadata": {"name": "a"},
        "spec": spec,
        "status": {"conditions": conditions},
    }
    found = snapshot_of([body])

    assert found.stopped.get("queue/a") == why
    assert not found.queues


def test_slice_has_at_most_as_many_domains_as_the_custom_resource_permits() -> None:
    """Ten to the twelfth power of names would fill the memory."""
    body = workload()
    (assignment,) = body["status"]["admission"]["podSetAssignments"]
    assignment["topologyAssignment"]["slices"][1]["domainCount"] = 10**12
    with pytest.raises(ValueError, match="a slice has 1000000000000 domains"):
        snapshot_of([body])
