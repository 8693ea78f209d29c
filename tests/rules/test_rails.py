"""What may be wrong with the ports of a node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import ROCE, together
from tests.rules.cases import broken, findings, messages
from tests.rules.test_ranks import CPU

RULE = "fabric/rail-is-no-rail"
FIRST = {"pci": "0000:18:00.0", "role": "rail", "gpu": 0}
SECOND = {"pci": "0000:40:00.0", "role": "rail", "gpu": 1}
STORAGE = {"pci": "0000:29:00.0", "role": "storage"}


@pytest.mark.parametrize(
    ("nics", "expected"),
    [
        ([FIRST, SECOND, STORAGE], []),
        (
            [FIRST, SECOND, {**STORAGE, "pci": FIRST["pci"]}],
            ["two ports of a `dgx-h100` have PCI address 0000:18:00.0"],
        ),
        ([FIRST], ["a `dgx-h100` has 1 rail and 2 GPUs; a fabric needs one rail for each GPU"]),
        (
            [FIRST, {"pci": "0000:40:00.0", "role": "rail"}],
            ["rail 0000:40:00.0 does not say its GPU; a `dgx-h100` has GPUs 0 to 1"],
        ),
        (
            [FIRST, {**SECOND, "gpu": 2}],
            ["rail 0000:40:00.0 stands beside GPU 2; a `dgx-h100` has GPUs 0 to 1"],
        ),
        ([STORAGE], ["pool `dgx-h100` is on fabric `ib`, but a `dgx-h100` has no rails"]),
    ],
)
def test_rails_stand_one_beside_each_gpu(nics: list[dict[str, Any]], expected: list[str]) -> None:
    """Each way in which ports are no rails has its own words."""
    assert (
        messages(RULE, {"hardware/dgx-h100.yaml": {"gpu": {"count": 2}, "nics": nics}}) == expected
    )


def test_node_with_fewer_rails_than_gpus_is_fine_without_a_fabric() -> None:
    """The help says what is not supported, and what it names as the way around passes."""
    node: dict[str, Any] = {"gpu": {"count": 4}, "nics": [FIRST, SECOND]}
    (found,) = (each for each in findings({"hardware/dgx-h100.yaml": node}) if each.rule == RULE)
    without = {
        "hardware/dgx-h100.yaml": {
            **node,
            "nics": [{"pci": each["pci"], "role": "storage"} for each in node["nics"]],
        },
        "clusters/prod-east.yaml": {"pools": {"dgx-h100": {"fabric": None}}},
    }

    assert (
        found.message == "a `dgx-h100` has 2 rails and 4 GPUs; a fabric needs one rail for each GPU"
    )
    assert (
        "does not support it on a fabric: give the ports another `role` than `rail`" in found.hint
    )
    assert "correct `nics` from what `nvidia-smi topo -m` and `lspci` say" in found.hint
    assert [each.rule for each in findings(without)] == ["fabric/gpu-jobs-without-rails"]


@pytest.mark.parametrize(
    ("vendor", "device", "told"),
    [
        ("15b3", "1021", ""),
        ("15b3", "a2d6", ""),
        (
            "15b3",
            "1018",
            "15b3:1018 is the id of virtual functions, not of the rails of a `dgx-h100`",
        ),
        ("15b3", "101f", "15b3:101f is ConnectX-6 Lx, which has no InfiniBand"),
        (
            "15b3",
            "1025",
            (
                "the SR-IOV operator does not know 15b3:1025, and `Nic/15b3:1025` is not declared in "
                "`external`"
            ),
        ),
        (
            "8086",
            "1592",
            "the rails of a `dgx-h100` are ports 8086:1592, but jobs use NVIDIA's, 15b3",
        ),
    ],
)
def test_port_is_one_that_the_operator_and_nccl_know(vendor: str, device: str, told: str) -> None:
    """Each way in which a port will not do has its own words."""
    changes = {"hardware/dgx-h100.yaml": {"nic": {"vendor": vendor, "device": device}}}

    assert messages("fabric/unsupported-nic", changes) == ([told] if told else [])


def test_ethernet_card_is_fine_for_roce() -> None:
    """What has no InfiniBand has Ethernet."""
    changes = {"hardware/dgx-h100.yaml": {"nic": {"device": "101d"}}}

    assert "fabric/unsupported-nic" not in broken(together(ROCE, changes))


@pytest.mark.parametrize(
    ("roce", "mtu", "odd"),
    [
        (False, 2044, False),
        (False, 4093, True),
        (True, 1499, True),
        (True, 1500, False),
        (True, 9216, False),
    ],
)
def test_mtu_is_one_of_the_link(roce: bool, mtu: int, odd: bool) -> None:
    """Each link has its own sizes."""
    changes = {"clusters/prod-east.yaml": {"fabrics": {"ib": {"mtu": mtu}}}}

    assert ("fabric/odd-mtu" in broken(together(ROCE, changes) if roce else changes)) is odd


TCP_RULE = "fabric/gpu-jobs-without-rails"
PLAIN: dict[str, Any] = {
    "hardware/dgx-h100.yaml": {"nics": []},
    "clusters/prod-east.yaml": {"pools": {"dgx-h100": {"fabric": None}}, "fabrics": None},
    "allocations.yaml": {"prod-east": None},
}
TORCHRUN: dict[str, Any] = {
    "launcher": "torchrun",
    "libraries": {"openmpi": None, "torch": "2.6.0"},
}


@pytest.mark.parametrize(
    ("runtime", "told"),
    [({}, True), ({"fabric": "tcp"}, False), ({"fabric": "isolated"}, False), (TORCHRUN, True),
     ({**TORCHRUN, "maxNodes": 1}, False)],
)  # fmt: skip
def test_several_gpu_nodes_without_rails_are_told_once_a_pool(
    runtime: dict[str, Any], told: bool
) -> None:
    """Sockets that a runtime asks for are meant, and one node talks to nobody."""
    changes = together(PLAIN, {"runtimes/openmpi-cuda.yaml": runtime})

    assert len(messages(TCP_RULE, changes)) == told


def test_share_of_a_node_stays_on_one_node() -> None:
    """Both pods of the job have room on one node, so nothing goes over the network."""
    quota = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 4}}}, "largestJob": None}
    vision = {"state": "retired"}

    assert (
        messages(TCP_RULE, together(PLAIN, {"teams/nlp.yaml": quota, "teams/vision.yaml": vision}))
        == []
    )


def test_each_team_and_runtime_is_a_note() -> None:
    """The pool has one finding; who may start such jobs stands beside it."""
    (found,) = (each for each in findings(PLAIN) if each.rule == TCP_RULE)

    assert [note.message for note in found.notes] == [
        "team nlp may take 4 nodes with runtime `openmpi-cuda`",
        "team vision may take 4 nodes with runtime `openmpi-cuda`",
    ]


def test_processors_need_no_rails() -> None:
    """Only GPUs wait."""
    assert TCP_RULE not in broken(CPU)
