"""Ranks that a runtime states."""

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
    """Return a runtime that states its ranks."""
    return {RUNTIME: {"ranks": number, **more}}


@pytest.mark.parametrize(
    ("number", "more", "told"),
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
def test_ranks_fit_on_what_is_allocatable(
    number: int, more: dict[str, Any], told: list[str]
) -> None:
    """128 are asked and 124 fit: that is told, and how many fit."""
    found = [each for each in findings(together(CPU, ranks(number, **more))) if each.rule == EXCEED]

    assert [each.message for each in found] == [
        f"runtime `openmpi-cuda` states {each}" for each in told
    ]
    assert {each.hint for each in found} <= {
        "Set `ranks` to 62 or less.",
        "Set `ranks` to 124 or less.",
    }


def test_ranks_of_a_share_are_its_part() -> None:
    """Two pods of one GPU have an eighth of a node each."""
    found = [each for each in findings(share(2) | ranks(12)) if each.rule == EXCEED]

    assert EXCEED not in broken(share(2) | ranks(16))
    assert [each.hint for each in found] == ["Set `ranks` to a multiple of 8."]


def test_steps_leave_fewer_cores() -> None:
    """A step before the ranks takes its cpu from the pod's."""
    step = {
        "initialize": {
            "image": f"registry.example.com/s@sha256:{'a' * 64}",
            "volume": "scratch",
            "dataset": True,
        }
    }

    assert EXCEED not in broken(ranks(104))
    assert EXCEED in broken(ranks(104, **step))


def test_stated_ranks_reach_the_objects() -> None:
    """The runtime starts them, the policy takes them for those of a job that leaves them open, the
    sample says them."""
    (site,) = platform_of(ranks(16)).sites
    bodies = {each.path: each.body for each in render_site(site)}
    (runtime,) = (body for path, body in bodies.items() if "clustertrainingruntime" in path)
    sample = next(body for path, body in bodies.items() if path.startswith("samples/"))
    limits = bodies["platform/configmap-trainjob-limits-nlp.yaml"]["data"]

    assert runtime["spec"]["mlPolicy"]["mpi"]["numProcPerNode"] == 16
    assert sample["spec"]["trainer"]["numProcPerNode"] == 16
    assert limits["ranksPerNode.openmpi-cuda-v1-dgx-h100"] == "16"
    assert limits["threadsPerRank.openmpi-cuda-v1-dgx-h100"] == "12"


def test_stated_ranks_that_leave_cores_over_are_told() -> None:
    """Ten ranks have ten of 104 cores each."""
    assert "node/odd-core-split" in broken(ranks(10))
    assert "node/odd-core-split" not in broken(ranks(10, binding="none"))
    assert "node/fewer-cores-than-ranks" not in broken(
        ranks(4) | {HARDWARE: {"system": {"cpu": 212}}}
    )


@pytest.mark.parametrize(
    ("number", "astride"), [(1, False), (2, False), (4, False), (8, False), (13, True), (26, False)]
)
def test_ranks_on_two_numa_nodes_are_told(number: int, *, astride: bool) -> None:
    """Thirteen ranks of eight cores: the seventh has four of each 52. A single one can't but have
    all of both."""
    assert ("node/odd-core-split" in broken(ranks(number))) is astride


def test_cores_on_each_numa_node_are_told() -> None:
    """What kubelet keeps for itself is on the first, and it divides the rest evenly only where that
    is possible."""
    (said,) = messages("node/odd-core-split", {HARDWARE: {"kubelet": {"cpu": 16}}})

    assert (
        "binds each of 8 ranks to 13 of the 104 cores of a `dgx-h100`, and some to two NUMA nodes"
        in said
    )
    assert said.endswith("kubelet gives a job 48 on NUMA node 0 and 56 on NUMA node 1")
