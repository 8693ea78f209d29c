"""A network between the nodes' rails."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from trainyard.diagnostics import Pointer
from trainyard.model.link import Link


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network between the nodes' rails.

    Args:
        first_segment, last_segment: partitions (InfiniBand) or VLANs (RoCE) that teams may be
        given, inclusive.
        addresses: range that teams' blocks come from.
        block: prefix length of one team's block.
        mtu: bytes; 0 leaves the driver's.
        traffic_class: of RDMA packets, as the switches' lossless queue expects it; -1 leaves the
            driver's.
        resources: stem of the rails' resource names; the fabric's own name, or one that several
            fabrics share.
    """

    name: str
    at: Pointer
    link: Link
    first_segment: int
    last_segment: int
    addresses: IPv4Network
    block: int
    mtu: int
    traffic_class: int
    resources: str

    @property
    def segments(self) -> range:
        """Partitions or VLANs that teams may be given."""
        first = max(self.first_segment, self.link.first)
        return range(first, min(self.last_segment, self.link.last) + 1)
