"""Ports of a node that are invalid as rails."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import ROCE, together
from tests.rules.cases import broken, findings, messages
from tests.rules.test_ranks import CPU
from trainyard.diagnostics import has_errors

RULE = "fabric/invalid-rails"
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
            ["rail 0000:40:00.0 has no `gpu`; a `dgx-h100` has GPUs 0 to 1"],
        ),
        (
            [FIRST, {**SECOND, "gpu": 2}],
            ["rail 0000:40:00.0 is assigned to GPU 2; a `dgx-h100` has GPUs 0 to 1"],
        ),
        ([STORAGE], ["pool `dgx-h100` is on fabric `ib`, but a `dgx-h100` has no rails"]),
    ],
)
def test_node_has_one_rail_for_each_gpu(nics: list[dict[str, Any]], expected: list[str]) -> None:
    """Each mistake in the ports has its own message."""
    changes = {"hardware/dgx-h100.yaml": {"gpu": {"count": 2}, "nics": nics}}

    assert messages(RULE, changes) == expected


def test_node_with_fewer_rails_than_gpus_is_valid_without_a_fabric() -> None:
    """The profiles that the help recommends have no error."""
    node: dict[str, Any] = {"gpu": {"count": 4}, "nics": [FIRST, SECOND]}
    (found,) = (each for each in findings({"hardware/dgx-h100.yaml": node}) if each.rule == RULE)
    without = {
        "hardware/dgx-h100.yaml": {
            **node,
            "nics": [{"pci": each["pci"], "role": "storage"} for each in node["nics"]],
        },
        "clusters/prod-east.yaml": {"pools": {"dgx-h100": {"fabric": None}}},
    }

    message = "a `dgx-h100` has 2 rails and 4 GPUs; a fabric needs one rail for each GPU"
    other_role = "does not support it on a fabric: give the ports another `role` than `rail`"
    assert found.message == message
    assert other_role in found.hint
    assert "Correct `nics` from what `nvidia-smi topo -m` and `lspci` show" in found.hint
    assert not has_errors(findings(without))


@pytest.mark.parametrize(
    ("vendor", "device", "message"),
    [
        ("15b3", "1021", ""),
        ("15b3", "a2d6", ""),
        (
            "15b3",
            "1018",
            "15b3:1018 is the id of virtual functions, not of the rails of a `dgx-h100`",
        ),
        ("15b3", "101f", "15b3:101f is ConnectX-6 Lx, which does not support InfiniBand"),
        (
            "15b3",
            "1025",
            (
                "the SR-IOV operator does not support 15b3:1025, and `Nic/15b3:1025` is not "
                "declared in `external`"
            ),
        ),
        (
            "8086",
            "1592",
            "the rails of a `dgx-h100` are ports 8086:1592, but jobs need NVIDIA's, 15b3",
        ),
    ],
)
def test_port_is_supported_by_the_operator_and_by_jobs(
    vendor: str, device: str, message: str
) -> None:
    """Each kind of unsupported port has its own message."""
    changes = {"hardware/dgx-h100.yaml": {"nic": {"vendor": vendor, "device": device}}}

    assert messages("fabric/unsupported-nic", changes) == ([message] if message else [])


def test_card_without_infiniband_is_supported_on_roce() -> None:
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
def test_mtu_is_supported_by_the_link(roce: bool, mtu: int, odd: bool) -> None:
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
    ("runtime", "reported"),
    [({}, True), ({"fabric": "tcp"}, False), ({"fabric": "isolated"}, False), (TORCHRUN, True),
     ({**TORCHRUN, "maxNodes": 1}, False)],
)  # fmt: skip
def test_pool_of_gpu_jobs_without_rails_is_reported_once(
    runtime: dict[str, Any], reported: bool
) -> None:
    """Runtimes that name TCP, or that use only one node, are permitted."""
    changes = together(PLAIN, {"runtimes/openmpi-cuda.yaml": runtime})

    assert len(messages(TCP_RULE, changes)) == reported


def test_jobs_on_a_share_of_a_node_need_no_rails() -> None:
    """Both pods of the job fit on one node, so they do not use the network."""
    quota = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 4}}}, "largestJob": None}
    vision = {"state": "retired"}

    changes = together(PLAIN, {"teams/nlp.yaml": quota, "teams/vision.yaml": vision})
    assert messages(TCP_RULE, changes) == []


def test_each_team_and_runtime_is_a_note() -> None:
    """The pool has one finding, whose notes name the teams that may start such jobs."""
    (found,) = (each for each in findings(PLAIN) if each.rule == TCP_RULE)

    assert [note.message for note in found.notes] == [
        "team nlp may use 4 nodes with runtime `openmpi-cuda`",
        "team vision may use 4 nodes with runtime `openmpi-cuda`",
    ]


def test_pools_without_gpus_need_no_rails() -> None:
    assert TCP_RULE not in broken(CPU)
