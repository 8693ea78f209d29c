"""A network between nodes for RDMA."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from trainyard.diagnostics import Pointer
from trainyard.model.hardware import Hardware
from trainyard.model.link import Link
from trainyard.model.provider import Provider, Request

ATTACHMENT = "NetworkAttachmentDefinition"
"""Kind under which a cluster declares who makes the network of devices."""

BLOCK = 20
"""Prefix length of a team's addresses on rails, where the fabric states none."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network between nodes, of any provider."""

    name: str
    at: Pointer
    provider: Provider


@dataclass(frozen=True, slots=True)
class RailFabric(Fabric):
    """A network between the nodes' rails, whose virtual functions and networks the tree has.

    Args:
        link: technology of the rails.
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


@dataclass(frozen=True, slots=True)
class DeviceFabric(Fabric):
    """A network whose devices others advertise to Kubernetes.

    Args:
        devices: extended resource that pods request, e.g. ``vpc.amazonaws.com/efa``.
        network: NetworkAttachmentDefinition of each device, with its namespace unless it is in each
            of the pods; empty where pods need none.
    """

    devices: str
    network: str = ""

    def advertised(self, hardware: Hardware) -> int:
        """Return how many a node has; 0 where its profile doesn't state it."""
        return hardware.devices.get(self.devices, 0)

    def per_pod(self, hardware: Hardware) -> int:
        """Return how many a pod of a whole node requests."""
        return 1 if self.provider.request is Request.SLOT else self.advertised(hardware)

    def ports(self, hardware: Hardware) -> int:
        """Return the ports that a pod of a whole node has; 0 where slots do not tell."""
        return 0 if self.provider.request is Request.SLOT else self.advertised(hardware)
