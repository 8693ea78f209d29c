"""Network cards whose ports can be rails: NVIDIA's, by their PCI ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VENDOR = "15b3"
"""PCI id of the maker of all of them."""

SPEEDS = frozenset({10, 25, 40, 50, 56, 100, 200, 400, 800})
"""Of a port in Gb/s, InfiniBand and Ethernet: 4 lanes of QDR to XDR, and IEEE 802.3 to 802.3df."""


@dataclass(frozen=True, slots=True)
class Card:
    """A model of card.

    Args:
        name: of the model.
        fastest: speed of its fastest port in Gb/s, by its product brief.
        infiniband: whether some of its ports support InfiniBand.
    """

    name: str
    fastest: int
    infiniband: bool = True


CARDS: Mapping[str, Card] = {
    "1013": Card("ConnectX-4", 100),
    "1015": Card("ConnectX-4 Lx", 50, infiniband=False),
    "1017": Card("ConnectX-5", 100),
    "1019": Card("ConnectX-5 Ex", 100),
    "101b": Card("ConnectX-6", 200),
    "101d": Card("ConnectX-6 Dx", 200, infiniband=False),
    "101f": Card("ConnectX-6 Lx", 50, infiniband=False),
    "1021": Card("ConnectX-7", 400),
    "1023": Card("ConnectX-8", 800),
    "a2d6": Card("BlueField-2", 200),
    "a2dc": Card("BlueField-3", 400),
}
"""By the device id of a port: those that the SR-IOV operator supports
(k8snetworkplumbingwg/sriov-network-operator:.../templates/configmap.yaml@v1.6.0)."""

FUNCTIONS = frozenset({"1014", "1016", "1018", "101a", "101c", "101e"})
"""Device ids of virtual functions of these ports, from the same list."""
