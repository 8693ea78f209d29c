"""What may be wrong with the ports of a node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import ROCE, together
from tests.rules.cases import broken, messages

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
        ([FIRST], ["a `dgx-h100` has 1 rail and 2 GPUs"]),
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
    assert messages(RULE, {"hardware/dgx-h100.yaml": {"gpu": {"count": 2}, "nics": nics}}) == expected


@pytest.mark.parametrize(
    ("vendor", "device", "told"),
    [
        ("15b3", "1021", ""),
        ("15b3", "a2d6", ""),
        ("15b3", "1018", "15b3:1018 is the id of virtual functions, not of the rails of a `dgx-h100`"),
        ("15b3", "101f", "15b3:101f is ConnectX-6 Lx, which has no InfiniBand"),
        (
            "15b3",
            "1025",
            "the SR-IOV operator does not know 15b3:1025, and `Nic/15b3:1025` is not declared in `external`",
        ),
        ("8086", "1592", "the rails of a `dgx-h100` are ports 8086:1592, but jobs use NVIDIA's, 15b3"),
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
    [(False, 2044, False), (False, 4093, True), (True, 1499, True), (True, 1500, False), (True, 9216, False)],
)
def test_mtu_is_one_of_the_link(roce: bool, mtu: int, odd: bool) -> None:
    """Each link has its own sizes."""
    changes = {"clusters/prod-east.yaml": {"fabrics": {"ib": {"mtu": mtu}}}}

    assert ("fabric/odd-mtu" in broken(together(ROCE, changes) if roce else changes)) is odd
