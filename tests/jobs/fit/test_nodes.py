"""Pods on the nodes of a pool."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainyard_jobs.fit.nodes import Placement, free_nodes, room, unplaced

NODE = {"cpu": 8000, "nvidia.com/gpu": 8, "pods": 100}


@given(st.integers(1, 8), st.integers(0, 40), st.integers(1, 9))
def test_alike_pods_fill_each_node_and_no_more(gpus: int, count: int, nodes: int) -> None:
    wanted = [Placement({"nvidia.com/gpu": gpus}, count)]

    assert unplaced(free_nodes(NODE, nodes, ()), wanted) == max(0, count - nodes * (8 // gpus))


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 6)), max_size=4), st.integers(1, 6))
def test_nodes_are_never_overfull(sizes: list[tuple[int, int]], count: int) -> None:
    nodes = free_nodes(NODE, count, ())
    wanted = [Placement({"nvidia.com/gpu": gpus, "cpu": 1000}, pods) for gpus, pods in sizes]
    left = unplaced(nodes, wanted)

    assert all(amount >= 0 for node in nodes for amount in node.values())
    taken = sum(NODE["pods"] - node["pods"] for node in nodes)
    assert taken + left == sum(pods for _, pods in sizes)


def test_used_nodes_have_what_is_left() -> None:
    nodes = free_nodes(NODE, 3, [{"nvidia.com/gpu": 6, "pods": 1}])

    assert [node["nvidia.com/gpu"] for node in nodes] == [2, 8, 8]
    assert unplaced(nodes, [Placement({"nvidia.com/gpu": 4}, 5)]) == 1


def test_a_node_has_no_room_for_what_it_lacks() -> None:
    assert room(NODE, {"nvidia.com/gpu": 9}) == 0
    assert room(NODE, {"example.com/other": 1}) == 0
