from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from tests.references.trees import changed, flagship, messages, position, rules
from trainyard.references.graph import check_references

SITE, MANIFESTS = flagship()
_OVER_RAILS = ("deepspeed-v1", "finetune-v1", "openmpi-cuda-v3", "torchrun-v1")
"""Runtimes of team nlp whose ranks talk over the rails."""

RAIL = "openshift.io/ib_rail_5"


def _uncover(*names: str) -> Any:
    def change(body: dict[str, Any]) -> None:
        group = body["spec"]["resourceGroups"][0]
        group["coveredResources"] = [
            name for name in group["coveredResources"] if name not in names
        ]

    return change


def test_uncovered_resource_is_found_for_each_runtime_and_job_of_the_team() -> None:
    """A rail that a team's queue does not cover is a finding for all that would wait in it, and for
    no other team."""
    at = position("platform/clusterqueue-nlp-gpu.yaml")
    manifests = changed(at, _uncover(RAIL, "ephemeral-storage"))
    found = list(check_references(SITE, manifests))
    assert {each.rule for each in found} == {"references/uncovered-resource"}
    waiting = [each for each in found if RAIL in each.message]
    tests = ("fabric", "nccl", "ranks", "storage")
    assert sorted(each.message.partition(":")[0] for each in waiting) == [
        *(f"platform/clustertrainingruntime-{name}-dgx-h100.yaml" for name in _OVER_RAILS),
        *sorted(
            f"samples/nlp/{name}.yaml"
            for name in (
                *(runtime.rpartition("-")[0] for runtime in _OVER_RAILS),
                *(f"test-{name}" for name in tests),
            )
        ),
    ]
    assert all(
        f"`ephemeral-storage`, `{RAIL}`, which ClusterQueue `nlp-gpu`" in each.message
        for each in waiting
    )
    assert {each.message.partition(":")[0] for each in found if each not in waiting} == {
        "platform/clustertrainingruntime-grpo-v1-dgx-h100.yaml",
        "samples/nlp/grpo.yaml",
    }
    assert all("unavailable in ClusterQueue" in each.consequence for each in found)
    assert {each.notes[0].at for each in found} == {MANIFESTS[at].at}


def test_one_queue_of_several_is_enough_for_a_runtime() -> None:
    """A team with a queue for each class of node may use a runtime that only one of them covers; a
    job names one."""
    cluster, local = (
        position("clusterqueue-science-gpu.yaml"),
        position("teams/science/localqueue-gpu.yaml"),
    )
    manifests = changed(
        cluster, lambda body: (_uncover(RAIL)(body), body["metadata"].update(name="science-cpu"))
    )
    second = deepcopy(MANIFESTS[local].body)
    second["metadata"]["name"], second["spec"]["clusterQueue"] = "cpu", "science-cpu"
    both = [*manifests, MANIFESTS[cluster], replace(MANIFESTS[local], body=second)]
    assert rules(both) == set()
    sample = position("samples/science/openmpi-cuda.yaml")
    waiting = deepcopy(both[sample].body)
    waiting["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "cpu"
    both[sample] = replace(both[sample], body=waiting)
    assert [message.partition(":")[0] for message in messages(both)] == [
        "samples/science/openmpi-cuda.yaml"
    ]


def test_job_with_resources_of_its_own_asks_for_these() -> None:
    """A job's resourcesPerNode replace the runtime's."""
    at = position("samples/science/openmpi-cuda.yaml")
    own = {"requests": {"cpu": "1", "example.com/fpga": "1"}}
    found = messages(changed(at, lambda body: body["spec"]["trainer"].update(resourcesPerNode=own)))
    assert len(found) == 1
    assert "requests `example.com/fpga`, which ClusterQueue `science-gpu`" in found[0]


def test_limit_without_request_counts_as_asked() -> None:
    """The API server makes a request of it."""

    def limit(body: dict[str, Any]) -> None:
        job = body["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"][
            "spec"
        ]
        job["containers"][0]["resources"] = {"limits": {"example.com/fpga": "1"}}

    at = position("clustertrainingruntime-deepspeed-v1-dgx-h100.yaml")
    assert rules(changed(at, limit)) == {"references/uncovered-resource"}
