"""Pools of several kinds in one queue, and the rest that a job's steps leave of a node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages

CLUSTER, HARDWARE, NLP, RUNTIME, VISION = (
    "clusters/prod-east.yaml",
    "hardware/dgx-h100.yaml",
    "teams/nlp.yaml",
    "runtimes/openmpi-cuda.yaml",
    "teams/vision.yaml",
)
UNEVEN = "scheduling/uneven-flavor-labels"


def two_kinds(one: dict[str, str], two: dict[str, str], **pool: Any) -> dict[str, Any]:
    """Return a team with quota on two kinds of node with these labels."""
    return {
        CLUSTER: {"pools": {"other": {"nodes": 3, "reserve": 1, "fabric": "ib", **pool}}},
        HARDWARE: {"labels": one},
        "hardware/other.yaml": {"extends": "nvidia-dgx-h100", "labels": two},
        RUNTIME: {"hardware": ["dgx-h100", "other"]},
        NLP: {"quota": {"prod-east": {"other": {"nodes": 2}}}},
    }


@pytest.mark.parametrize(
    ("one", "two", "uneven"),
    [
        ({"a": "1"}, {"a": "2"}, False),
        ({"a": "1"}, {"b": "1"}, True),
        ({"a": "1", "b": "1"}, {"a": "2", "c": "1"}, False),
        ({"a": "1", "b": "1"}, {"a": "1", "c": "1"}, True),
        ({"a": "1"}, {"a": "1", "b": "1"}, False),
    ],
)
def test_one_key_with_two_values_distinguishes_pools(
    one: dict[str, str], two: dict[str, str], uneven: bool
) -> None:
    """Pools whose labels include the other's are reported as overlapping instead."""
    assert (UNEVEN in broken(two_kinds(one, two))) is uneven


def test_pools_of_two_queues_need_no_common_key() -> None:
    """Kueue chooses only between the pools of one queue."""
    apart: dict[str, Any] = two_kinds({"a": "1"}, {"b": "1"})
    moved: dict[str, Any] = {
        **apart,
        NLP: {"quota": {"prod-east": {"other": {"nodes": 2}, "dgx-h100": None}}},
    }

    assert {UNEVEN, "scheduling/equal-preference"} <= broken(apart)
    assert not {UNEVEN, "scheduling/equal-preference"} & broken(moved)


def test_pools_are_reported_once_for_all_teams() -> None:
    """The labels belong to the platform, so naming the first queue is enough."""
    both: dict[str, Any] = {
        **two_kinds({"a": "1"}, {"a": "2"}),
        VISION: {"quota": {"prod-east": {"other": {"nodes": 0, "borrow": 2}}}},
    }

    assert messages("scheduling/equal-preference", both) == [
        (
            "pools `dgx-h100` and `other` of queue nlp-gpu have the same preference, 0: `dgx-h100` "
            "comes first by its name"
        )
    ]


@pytest.mark.parametrize(
    ("level", "reported"),
    [
        ("topology.kubernetes.io/zone", False),
        ("topology.kubernetes.io/region", False),
        ("topology.kubernetes.io/rack", True),
        ("topology.k8s.aws/network-node-layer-1", False),
        ("topology.k8s.io/zone", True),
        ("failure-domain.beta.kubernetes.io/zone", True),
        ("kubernetes.io/rack", True),
        ("ml.example.com/rack", False),
    ],
)
def test_levels_in_kubernetes_domains_are_those_that_it_sets(level: str, reported: bool) -> None:
    """Levels in any other domain have a declared owner."""
    changes = {
        CLUSTER: {
            "fabrics": {"ib": {"levels": [level]}},
            "external": {f"NodeLabel/{level}": "somebody"},
        }
    }

    assert ("scheduling/made-up-topology-label" in broken(changes)) is reported


def steps(**fields: Any) -> dict[str, Any]:
    """Return the base with a step before the ranks."""
    image = f"registry.example.com/ml/initializer@sha256:{'b' * 64}"
    initialize = {"image": image, "volume": "scratch", "dataset": True, **fields}
    return {RUNTIME: {"initialize": initialize}, VISION: {"storage": {"scratch": "5Ti"}}}


@pytest.mark.parametrize(
    ("fields", "room"),
    [
        ({}, True),
        ({"cpu": 192}, True),
        ({"cpu": 193}, False),
        ({"cpu": 96, "model": True}, True),
        ({"cpu": 97, "model": True}, False),
        ({"memory": "1887Gi"}, True),
        ({"memory": "1888Gi"}, False),
        ({"memory": "4Ti"}, False),
    ],
)
def test_steps_leave_each_rank_a_core_and_the_shared_memory(
    fields: dict[str, Any], room: bool
) -> None:
    """A DGX has 208 threads, 16 of them for eight ranks, and 1952Gi, 64Gi of them shared."""
    assert ("capacity/no-room-for-initializer" not in broken(steps(**fields))) is room


def test_step_takes_as_much_of_a_share_as_of_a_whole_node() -> None:
    """A pod of one GPU has 26 threads of a DGX and 244Gi."""
    share = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 2}}}, "largestJob": None}

    (message,) = messages("capacity/no-room-for-initializer", {**steps(cpu=26), NLP: share})
    expected = "take 26 cpu and 16Gi of a `dgx-h100-1gpu`, which leaves the ranks of runtime "
    assert expected in message


def test_small_launcher_takes_as_much_of_a_share_as_of_a_whole_node() -> None:
    """Each pod of ranks leaves room for one, a pod on a part of a node too."""
    share = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 2}}}, "largestJob": None}
    kept = {"hardware/dgx-h100.yaml": {"launcher": {"cores": 13, "memory": "4Gi"}}}
    (message,) = messages("capacity/no-room-for-initializer", {**kept, NLP: share})
    assert "a small launcher takes 26 cpu and 4Gi of a `dgx-h100-1gpu`, which leaves the" in message
