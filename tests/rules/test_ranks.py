"""Ranks that a runtime sets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import together
from tests.rules.cases import broken, findings, messages, platform_of
from tests.rules.test_shares import HARDWARE, NLP, RUNTIME, share
from trainyard.render.site import render_site

EXCEED = "runtime/ranks-exceed-node"
CPU: dict[str, Any] = {
    "hardware/cpu.yaml": {
        "extends": "cpu-node",
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "512Gi",
        "ephemeralStorage": "894Gi",
        "system": {"cpu": 4},
        "kubelet": {"cpu": 2},
        "labels": {"ml.example.com/kind": "cpu"},
    },
    "clusters/prod-east.yaml": {
        "pools": {"dgx-h100": None, "cpu": {"nodes": 9, "reserve": 1}},
        "fabrics": None,
    },
    RUNTIME: {"hardware": ["cpu"], "libraries": {"cuda": None}},
    NLP: {"quota": {"prod-east": {"dgx-h100": None, "cpu": {"nodes": 4}}}},
    "teams/vision.yaml": {"quota": {"prod-east": {"dgx-h100": None, "cpu": {"nodes": 4}}}},
    "allocations.yaml": {"prod-east": None},
}


def ranks(number: int, **more: Any) -> dict[str, Any]:
    """Return changes that set the ranks of the base's runtime."""
    return {RUNTIME: {"ranks": number, **more}}


@pytest.mark.parametrize(
    ("number", "more", "expected"),
    [
        (62, {}, []),
        (63, {}, ["63 ranks per node, but a pod of `cpu` has 62 cores for 63 ranks"]),
        (124, {"binding": "none"}, []),
        (
            128,
            {"binding": "none"},
            ["128 ranks per node, but a pod of `cpu` has 124 cpus for 128 ranks"],
        ),
    ],
)
def test_ranks_fit_on_the_allocatable_cpu(
    number: int, more: dict[str, Any], expected: list[str]
) -> None:
    """The hint names the largest number that fits."""
    found = [each for each in findings(together(CPU, ranks(number, **more))) if each.rule == EXCEED]

    assert [each.message for each in found] == [
        f"runtime `openmpi-cuda` sets {each}" for each in expected
    ]
    assert {each.hint for each in found} <= {
        "Set `ranks` to 62 or less, or `binding: none`: ranks that are not bound may be 124.",
        "Set `ranks` to 124 or less.",
    }


def test_share_of_a_node_starts_its_part_of_the_ranks() -> None:
    """Each of two pods with one GPU has an eighth of a node."""
    found = [each for each in findings(share(2) | ranks(12)) if each.rule == EXCEED]

    assert EXCEED not in broken(share(2) | ranks(16))
    assert [each.hint for each in found] == ["Set `ranks` to a multiple of 8."]


def test_steps_leave_fewer_cores_to_ranks() -> None:
    step = {
        "initialize": {
            "image": f"registry.example.com/s@sha256:{'a' * 64}",
            "volume": "scratch",
            "dataset": True,
        }
    }

    assert EXCEED not in broken(ranks(104))
    assert EXCEED in broken(ranks(104, **step))


def test_ranks_are_in_the_runtime_the_policy_and_the_sample() -> None:
    """The policy uses them for a job that leaves its ranks open."""
    (site,) = platform_of(ranks(16)).sites
    bodies = {each.path: each.body for each in render_site(site)}
    (runtime,) = (body for path, body in bodies.items() if "clustertrainingruntime" in path)
    sample = next(body for path, body in bodies.items() if path.startswith("samples/"))
    limits = bodies["platform/configmap-trainjob-limits-nlp.yaml"]["data"]

    assert runtime["spec"]["mlPolicy"]["mpi"]["numProcPerNode"] == 16
    assert sample["spec"]["trainer"]["numProcPerNode"] == 16
    assert limits["ranksPerNode.openmpi-cuda-v1-dgx-h100"] == "16"
    assert limits["threadsPerRank.openmpi-cuda-v1-dgx-h100"] == "12"


def test_ranks_that_leave_cores_unused_are_reported() -> None:
    """Each of ten ranks gets ten of 104 cores."""
    assert "node/odd-core-split" in broken(ranks(10))
    assert "node/odd-core-split" not in broken(ranks(10, binding="none"))
    assert "node/fewer-cores-than-ranks" not in broken(
        ranks(4) | {HARDWARE: {"system": {"cpu": 212}}}
    )


@pytest.mark.parametrize(
    ("number", "reported"),
    [(1, False), (2, False), (4, False), (8, False), (13, True), (26, False)],
)
def test_rank_on_two_numa_nodes_is_reported(number: int, *, reported: bool) -> None:
    """Of thirteen ranks with eight cores each, the seventh has four on each NUMA node. A single
    rank always has the cores of both."""
    assert ("node/odd-core-split" in broken(ranks(number))) is reported


def test_message_counts_the_cores_on_each_numa_node() -> None:
    """kubelet keeps its own cores on the first NUMA node."""
    (message,) = messages("node/odd-core-split", {HARDWARE: {"kubelet": {"cpu": 16}}})

    assert (
        "binds each of 8 ranks to 13 of the 104 cores of a `dgx-h100`, and some ranks to two "
        "NUMA nodes" in message
    )
    assert message.endswith("kubelet gives a job 48 on NUMA node 0 and 56 on NUMA node 1")
