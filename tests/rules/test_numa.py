"""NUMA nodes of ports."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages

IMPOSSIBLE, WRONG_SIDE = "node/impossible-numa", "node/port-on-the-wrong-side"
HARDWARE = "hardware/dgx-h100.yaml"
BUSES = ("18", "40", "9a", "c0")


def node(*sides: int | None, **more: Any) -> dict[str, Any]:
    """Return a node with a rail beside each GPU, in the order of their addresses."""
    nics = [
        {
            "pci": f"0000:{bus}:00.0",
            "role": "rail",
            "gpu": gpu,
            **({} if side is None else {"numa": side}),
        }
        for gpu, (bus, side) in enumerate(zip(BUSES, sides, strict=True))
    ]
    return {HARDWARE: {"gpu": {"count": len(BUSES)}, "nics": nics, **more}}


@pytest.mark.parametrize(
    ("sides", "wrong"),
    [
        ((0, 0, 1, 1), []),
        ((1, 1, 0, 0), []),
        ((0, 0, 0, 0), []),
        ((None, None, None, None), []),
        ((0, None, 1, 1), []),
        ((1, 0, 1, 1), ["18"]),
        ((0, 1, 0, 0), ["18"]),
        ((0, 1, 0, 1), ["18", "40"]),
    ],
)
def test_ports_of_a_numa_node_have_neighbouring_addresses(
    sides: tuple[int | None, ...], wrong: list[str]
) -> None:
    """A port without a stated NUMA node is not considered."""
    words_of = [each.split() for each in messages(WRONG_SIDE, node(*sides))]

    assert [words[1] for words in words_of if words[0] == "port"] == [
        f"0000:{bus}:00.0" for bus in wrong
    ]


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ((0, 0, 1, 1), []),
        ((0, 0, 0, 0), []),
        ((0, 0, None, 1), []),
        (
            (0, 0, 0, 1),
            [
                (
                    "the 4 rails of a `dgx-h100` are split unevenly: 3 on NUMA node 0 and 1 on "
                    "NUMA node 1"
                )
            ],
        ),
    ],
)
def test_rails_are_split_evenly(sides: tuple[int | None, ...], expected: list[str]) -> None:
    """A mistake at the border of two NUMA nodes leaves the ports neighbours, but one has more."""
    assert messages(WRONG_SIDE, node(*sides)) == expected


@pytest.mark.parametrize(("numa", "possible"), [(0, True), (1, True), (2, False), (7, False)])
def test_numa_node_of_a_port_exists(numa: int, possible: bool) -> None:
    """NUMA nodes are counted from 0."""
    assert (IMPOSSIBLE not in broken(node(0, 0, 0, numa))) is possible


def test_each_numa_node_has_a_core() -> None:
    cores = {
        "cpu": {"sockets": 2, "cores": 6, "threads": 12},
        "system": {"cpu": 2},
        "kubelet": {"cpu": 1},
    }

    assert messages(IMPOSSIBLE, node(0, 0, 0, 0, numaNodes=8, **cores)) == [
        "a `dgx-h100` has 8 NUMA nodes and 6 cores"
    ]
