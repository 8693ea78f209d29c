"""Shares of a node: which sizes are permitted, and which are reported."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.resolve.changes import together
from tests.rules.cases import broken, findings, messages, platform_of
from tests.rules.cores import on_cores
from trainyard.capacity.measure import measure
from trainyard.rules.capacity.share_without_a_place import least_room

CLUSTER, NLP, VISION, RUNTIME = (
    "clusters/prod-east.yaml",
    "teams/nlp.yaml",
    "teams/vision.yaml",
    "runtimes/openmpi-cuda.yaml",
)
HARDWARE = "hardware/dgx-h100.yaml"
UNEVEN = "capacity/uneven-share"
PLACE = "capacity/share-without-a-place"
BESIDE = "capacity/shares-beside-whole-nodes"
CPU: dict[str, Any] = {
    CLUSTER: {"pools": {"cpu": {"nodes": 3}}},
    "hardware/cpu.yaml": {
        "extends": "cpu-node",
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "512Gi",
        "ephemeralStorage": "894Gi",
        "labels": {"ml.example.com/kind": "cpu"},
    },
}
TORCHRUN: dict[str, Any] = {
    RUNTIME: {"launcher": "torchrun", "libraries": {"openmpi": None, "torch": "2.6.0"}}
}


WHOLE_NODE: dict[str, Any] = {
    NLP: {"quota": {"prod-east": {"dgx-h100": {"nodes": 1, "borrow": 3}}}, "largestJob": None}
}


SECOND: dict[str, Any] = {
    "version": 1,
    "image": f"registry.example.com/ml/second@sha256:{'b' * 64}",
    "libraries": {"openmpi": "4.1.6", "cuda": "12.6"},
    "hardware": ["dgx-h100"],
    "maxNodes": 8,
}
"""A second runtime on the same nodes."""


def share(gpus: int, team: str = NLP, **more: Any) -> dict[str, Any]:
    """Return a team with GPUs of a node in place of nodes."""
    quota = {
        "quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": gpus, **more}}},
        "largestJob": None,
    }
    return {team: quota}


@pytest.mark.parametrize("gpus", range(1, 65))
def test_share_is_less_than_a_node_and_divides_into_equal_pods(gpus: int) -> None:
    """MPI needs at least two pods and torchrun one; whole nodes are counted in nodes."""
    assert (UNEVEN in broken(share(gpus))) is (gpus % 2 == 1 or gpus >= 8)
    assert (UNEVEN in broken(share(gpus) | TORCHRUN)) is (gpus >= 8)


WHOLE = "hardware/whole.yaml"
TWO_POOLS: dict[str, Any] = {
    CLUSTER: {"pools": {"whole": {"nodes": 2, "fabric": "ib"}}},
    WHOLE: {"extends": "dgx-h100", "labels": {"ml.example.com/node-type": "whole"}},
}


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        (share(8), "Set `dgx-h100: {nodes: 1}` in place of `dgx-h100: {gpus: 8}`."),
        (share(12), "Set `dgx-h100: {nodes: 2}` in place of `dgx-h100: {gpus: 12}`."),
        (
            share(8) | share(2, VISION) | TWO_POOLS,
            "Set `whole: {nodes: 1}` in place of `dgx-h100: {gpus: 8}`.",
        ),
        (
            share(8) | share(2, VISION),
            "Add a pool of whole nodes to the cluster, and set `nodes: 1` of that pool.",
        ),
    ],
)
def test_whole_node_as_a_share_has_one_finding_about_shares(
    changes: dict[str, Any], hint: str
) -> None:
    """The edit names a pool that no other team has a share of; other findings about its pods would
    only repeat that no node has room for it."""
    found = [each for each in findings(changes) if each.rule in {UNEVEN, PLACE}]

    assert [(each.rule, each.hint) for each in found] == [(UNEVEN, hint)]
    assert found[0].message.endswith(", whose nodes have 8: this is not a share of a node")


def test_share_of_a_node_without_gpus_is_reported() -> None:
    cpu = {**CPU, NLP: {"quota": {"prod-east": {"cpu": {"gpus": 2}}}}}

    (message,) = messages(UNEVEN, cpu)
    assert message == "team nlp owns 2 GPUs of pool `cpu`, whose nodes have no GPUs"


@pytest.mark.parametrize("gpus", [2, 64])
def test_gpus_of_a_pool_without_any_are_no_other_error(gpus: int) -> None:
    """They count as nodes nowhere, beside whole nodes neither."""
    cpu_runtime = {RUNTIME: {"hardware": ["cpu", "dgx-h100"]}}
    quota = {NLP: {"quota": {"prod-east": {"cpu": {"gpus": gpus}}}}}
    whole = {VISION: {"quota": {"prod-east": {"cpu": {"nodes": 3}}}}}
    capacity = {each for each in broken(CPU | cpu_runtime | quota | whole) if "capacity/" in each}

    assert capacity & {
        "capacity/oversubscribed",
        "capacity/share-without-a-place",
        "capacity/shares-beside-whole-nodes",
        UNEVEN,
    } == {UNEVEN}


def test_cores_of_a_pool_with_gpus_are_reported() -> None:
    cores = {NLP: {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "cores": 24}}}}}

    (message,) = messages(UNEVEN, cores)
    assert message == (
        "team nlp owns 24 cores of pool `dgx-h100`, whose nodes are shared by their GPUs"
    )


@pytest.mark.parametrize(("cores", "uneven"), [(1, 1), (2, 0), (59, 1), (58, 0), (60, 1)])
def test_cores_divide_into_equal_pods(cores: int, uneven: int) -> None:
    """Of 60; with one pod any number does."""
    changes = on_cores(cores)

    assert len(messages(UNEVEN, changes)) == uneven
    one = {**changes, RUNTIME: {**changes[RUNTIME], "maxNodes": 1}}
    assert len(messages(UNEVEN, one)) == (cores == 60)


def test_shares_of_cores_find_room_like_those_of_gpus() -> None:
    """Pods of 24 and of 18 cores; one node of 60 has room for two of each size, not of both."""
    (first, second) = messages(PLACE, on_cores(48, 36))

    assert first == (
        "team nlp needs room for 2 pods of 24 cores in pool `cpu`, but the other shares, 36 cores "
        "on 1 node, may leave room for only 1"
    )
    assert second.startswith("team vision needs room for 2 pods of 18 cores in pool `cpu`, but")
    assert messages(PLACE, on_cores(40, 20)) == []


def test_cores_without_a_team_are_idle() -> None:
    assert "12 of the 60 cores of pool `cpu` belong to no team" in messages(
        "capacity/idle-nodes", on_cores(36, 12)
    )


def test_too_many_nodes_of_a_pool_without_gpus_are_not_an_uneven_share() -> None:
    cpu = {**CPU, NLP: {"quota": {"prod-east": {"cpu": {"nodes": 5}}}}}

    assert messages("capacity/oversubscribed", cpu) == [
        "teams own 5 nodes of pool `cpu`, which promises 3 (3 less 0 in reserve)"
    ]
    assert messages(UNEVEN, cpu) == []


@pytest.mark.parametrize(("cpu", "whole"), [(16, True), (18, False), (24, False), (32, True)])
def test_pods_of_a_share_have_whole_cores(cpu: int, whole: bool) -> None:
    """A pod of one GPU gets an eighth of the node: 13 cores of 104, but no whole number of 103."""
    assert (UNEVEN in broken(share(2) | {HARDWARE: {"system": {"cpu": cpu}}})) is not whole


@pytest.mark.parametrize(
    ("own", "borrow", "uneven"), [(2, 1, False), (4, 1, True), (4, 2, False), (6, 2, True)]
)
def test_borrowed_gpus_divide_into_pods(own: int, borrow: int, uneven: bool) -> None:
    """Jobs use them in whole pods, so a rest is of no use."""
    assert (UNEVEN in broken(share(own, borrow=borrow))) is uneven


def pool(nodes: int) -> dict[str, Any]:
    """Return the pool with as many nodes, none in reserve."""
    return {CLUSTER: {"pools": {"dgx-h100": {"nodes": nodes, "reserve": 0}}}}


@pytest.mark.parametrize(
    ("one", "two", "nodes", "lost"), [(6, 2, 1, False), (6, 6, 2, False), (4, 4, 1, False)]
)
def test_two_shares_that_fill_one_node_always_fit(
    one: int, two: int, nodes: int, lost: bool
) -> None:
    """On two nodes, one pod of three GPUs on each leaves room for one more."""
    changes = share(one) | share(two, VISION) | pool(nodes)

    assert (PLACE in broken(changes)) is lost
    assert BESIDE not in broken(changes)


@given(
    nodes=st.integers(1, 3),
    gpus=st.integers(1, 6),
    others=st.lists(st.integers(1, 3), max_size=5),
    size=st.integers(1, 6),
)
def test_least_room_is_never_more_than_the_real_room(
    nodes: int, gpus: int, others: list[int], size: int
) -> None:
    """All placements of the others leave at least that room; with pods of one GPU, exactly."""
    assume(size <= gpus)
    rooms = []
    for placement in product(range(nodes), repeat=len(others)):
        free = [gpus] * nodes
        for pod, node in zip(others, placement, strict=True):
            free[node] -= pod
        if min(free) >= 0:
            rooms.append(sum(each // size for each in free))
    assume(rooms)

    least = least_room(nodes, gpus, size, sum(others))

    assert least <= min(rooms)
    if set(others) <= {1}:
        assert least == min(rooms)


def test_shares_with_pods_of_one_size_always_fit() -> None:
    """Wherever they are, pods of two GPUs leave room for pods of two GPUs."""
    assert PLACE not in broken(share(4) | share(4, VISION) | pool(1))
    assert least_room(nodes=9, node=4, size=1, others=9 * 4 - 1) == 1


def test_shares_and_whole_nodes_of_one_pool_are_reported() -> None:
    """The message names the teams with whole nodes, and the notes name those with shares."""
    assert messages(BESIDE, share(4)) == [
        "teams own GPUs of pool `dgx-h100`, in which vision owns whole nodes"
    ]


@pytest.mark.parametrize(("functions", "few"), [(4, True), (7, True), (8, False), (127, False)])
def test_share_includes_a_virtual_function_for_each_pod(functions: int, few: bool) -> None:
    """A quarter of a node has two pods, so each rail needs eight virtual functions."""
    changes = share(2) | {HARDWARE: {"nic": {"virtualFunctions": functions}}}

    assert ("fabric/too-few-virtual-functions" in broken(changes)) is few
    assert "fabric/too-few-virtual-functions" not in broken(changes | {RUNTIME: {"fabric": "tcp"}})


@pytest.mark.parametrize(
    ("largest", "pods", "exceeds"),
    [
        (None, 8, False),
        (1, 8, False),
        (2, 16, False),
        (3, 18, False),
        (4, 18, True),
    ],
)
def test_largest_job_counts_nodes_of_a_share_too(
    largest: int | None, pods: int, exceeds: bool
) -> None:
    """With two GPUs and sixteen borrowed, a job has the pods of its nodes, at most eighteen."""
    changes = share(2, borrow=16) | {RUNTIME: {"maxNodes": 64}}
    changes[NLP]["largestJob"] = largest and {"nodes": largest}
    (grant,) = platform_of(changes).sites[0].tenants[0].spaces[0].grants

    assert grant.nodes == pods
    found = broken(changes)
    assert "scheduling/job-on-borrowed-nodes" in found
    assert ("capacity/job-exceeds-quota" in found) is exceeds


def test_job_larger_than_a_share_is_reported() -> None:
    """A job of two nodes does not fit into a share without borrowed GPUs."""
    two = share(2)
    two[NLP]["largestJob"] = {"nodes": 2}

    (message,) = messages("capacity/job-exceeds-quota", two)
    assert message == (
        "team nlp may submit a job of 2 nodes, but its quota allows 2 GPUs of pool `dgx-h100` (2 "
        "own, 0 borrowed)"
    )


def test_job_on_borrowed_gpus_is_reported_in_gpus() -> None:
    (message,) = messages("scheduling/job-on-borrowed-nodes", share(2, borrow=2))
    assert message == (
        "the largest job of team nlp on pool `dgx-h100` takes 4 GPUs, of which it owns 2 and "
        "borrows 2"
    )
    assert "scheduling/job-on-borrowed-nodes" not in broken(share(2))


def test_runtime_that_a_team_cannot_use_in_any_namespace_is_reported() -> None:
    """One node is enough for torchrun, but not for Open MPI."""
    torch = {
        "version": 1,
        "displayName": "PyTorch",
        "launcher": "torchrun",
        "image": f"registry.example.com/ml/torch@sha256:{'a' * 64}",
        "libraries": {"torch": "2.6.0", "cuda": "12.6"},
        "hardware": ["dgx-h100"],
        "maxNodes": 8,
    }
    one = {
        "quota": {"prod-east": {"dgx-h100": {"nodes": 1}}},
        "largestJob": None,
        "runtimes": ["openmpi-cuda", "torch"],
    }
    changes = {"runtimes/torch.yaml": torch, NLP: one}
    (space,) = platform_of(changes).sites[0].tenants[0].spaces

    assert [launch.runtime.name for launch in space.launches] == ["torch"]
    (message,) = messages("capacity/smallest-job-does-not-fit", changes)
    assert message.startswith(
        "team nlp may use 1 node of pool `dgx-h100` (1 own, 0 borrowed), but the smallest job"
    )


def test_one_node_is_enough_for_a_runtime_of_one_pod() -> None:
    """Its launcher has all ranks, so MPI needs no second node."""
    one = {NLP: {"quota": {"prod-east": {"dgx-h100": {"nodes": 1}}}, "largestJob": None}}
    rule = "capacity/smallest-job-does-not-fit"

    assert messages(rule, one)
    assert not messages(rule, {**one, RUNTIME: {"maxNodes": 1}})


@pytest.mark.parametrize(("gpus", "uneven"), [(1, 1), (2, 0), (3, 1)])
def test_a_share_is_whole_for_a_runtime_of_one_pod(gpus: int, uneven: int) -> None:
    """Two pods can't divide one or three GPUs; one pod takes them all."""
    rule = "capacity/uneven-share"

    assert len(messages(rule, share(gpus))) == uneven
    assert not messages(rule, {**share(gpus), RUNTIME: {"maxNodes": 1}})


def test_pool_without_promised_nodes_is_named_as_the_reason() -> None:
    changes = {CLUSTER: {"pools": {"dgx-h100": {"nodes": 1, "reserve": 1}}}, **share(2)}

    assert "in pool `dgx-h100`, which promises 0 nodes" in messages(PLACE, changes)[-1]


@pytest.mark.parametrize(("gpus", "borrow", "most"), [*product((1, 4), (0, 1, 3), (1, 2, 8))])
def test_largest_job_on_borrowed_gpus_is_that_of_capacity(
    gpus: int, borrow: int, most: int
) -> None:
    """One number, whoever shows it: `maxNodes` of the runtime limits the pods of a share too."""
    changes = together(share(gpus, borrow=borrow), TORCHRUN, {RUNTIME: {"maxNodes": most}})
    (site,) = platform_of(changes).sites
    (part, *_) = measure(site, {}).pools[0].parts
    found = messages("scheduling/job-on-borrowed-nodes", changes)
    size = int(part.largest_job.nodes * 8)

    assert part.team == "nlp"
    assert bool(found) == (size > gpus)
    assert all(f"takes {size} GPU" in each for each in found)


@pytest.mark.parametrize(
    ("changes", "pods"),
    [
        pytest.param(together(share(1, borrow=3), TORCHRUN), 1, id="torchrun-share"),
        pytest.param(share(2, borrow=4), 2, id="mpi-share"),
        pytest.param(together(share(1), TORCHRUN), 1, id="no-borrow"),
        pytest.param(together(WHOLE_NODE, TORCHRUN), 1, id="torchrun-node"),
        pytest.param(WHOLE_NODE, 2, id="mpi-node"),
        pytest.param(TORCHRUN, 2, id="nodes"),
    ],
)
def test_sample_is_on_own_nodes_where_a_job_fits_there(changes: dict[str, Any], pods: int) -> None:
    """A job to copy is not evicted for what it borrowed."""
    (site,) = platform_of(changes).sites
    (sample,) = site.tenants[0].spaces[0].samples

    assert sample.nodes == pods


@pytest.mark.parametrize(
    ("amounts", "pool"),
    [
        pytest.param({"cores": 40}, "dgx-h100", id="cores"),
        pytest.param({"cores": 2, "borrow": 3}, "dgx-h100", id="cores-borrowed"),
        pytest.param({"gpus": 40}, "cpu", id="gpus"),
        pytest.param({"gpus": 1}, "cpu", id="gpu"),
    ],
)
def test_parts_that_nodes_do_not_have_are_one_mistake(amounts: dict[str, int], pool: str) -> None:
    """Nothing is computed from them: no job of 40 nodes, and no pool that is too small."""
    quota = {"dgx-h100": None} | {pool: {"nodes": None, **amounts}}
    team = {NLP: {"quota": {"prod-east": quota}, "largestJob": None}}
    listed = {RUNTIME: {"hardware": ["cpu", "dgx-h100"]}}
    found = findings(together(CPU, listed, team))

    assert [each.rule for each in found if each.severity == "error"] == [UNEVEN]
    assert not any("40 nodes" in each.message for each in found)


def test_cores_that_no_gpu_divides_are_one_finding_at_the_hardware() -> None:
    """Whatever number of teams and runtimes meets them; the help is the number to write."""
    second = {"runtimes/second.yaml": {**SECOND}, NLP: {"runtimes": ["openmpi-cuda", "second"]}}
    changes = together(share(2), share(4, VISION), second, {HARDWARE: {"system": {"cpu": 18}}})
    found = [each for each in findings(changes) if each.rule == UNEVEN]

    assert [(each.at.file, each.at.path) for each in found] == [
        ("profiles/hardware/dgx-h100.yaml", ("system", "cpu"))
    ]
    assert found[0].message.startswith("a `dgx-h100` gives teams 103 cores for 8 GPUs")
    assert found[0].hint == "Set `system: {cpu: 32}`, which leaves 12 cores to each GPU."
    assert [note.message for note in found[0].notes] == [
        "team nlp owns 2 GPUs of pool `dgx-h100`",
        "team vision owns 4 GPUs of pool `dgx-h100`",
    ]
    fixed = together(changes, {HARDWARE: {"system": {"cpu": 32}}})
    assert UNEVEN not in broken(fixed)


@pytest.mark.parametrize(
    ("count", "gpus", "choice"),
    [
        (8, 3, "`gpus` to 2, 4 or 6."),
        (4, 3, "`gpus` to 2."),
        (2, 1, "`gpus` to what 2 pods can divide, which 2 of a node are too few for."),
    ],
)
def test_help_names_numbers_that_the_node_has(count: int, gpus: int, choice: str) -> None:
    """Never of eight on a node with four."""
    nics = [{"pci": f"0000:{18 + i}:00.0", "role": "rail", "gpu": i} for i in range(count)]
    changes = share(gpus) | {HARDWARE: {"gpu": {"count": count}, "nics": nics}}
    (found,) = [each for each in findings(changes) if each.rule == UNEVEN]

    assert choice in found.hint
