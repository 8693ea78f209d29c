"""A network between nodes for RDMA."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from ipaddress import IPv4Network
from itertools import product

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
        physical: name of the network that the rails are ports of; empty if nobody states it.
    """

    link: Link
    first_segment: int
    last_segment: int
    addresses: IPv4Network
    block: int
    mtu: int
    traffic_class: int
    resources: str
    physical: str = ""

    @property
    def segments(self) -> range:
        """Partitions or VLANs that teams may be given."""
        first = max(self.first_segment, self.link.first)
        return range(first, min(self.last_segment, self.link.last) + 1)


@dataclass(frozen=True, slots=True)
class DeviceFabric(Fabric):
    """A network whose devices others advertise to Kubernetes.

    Args:
        devices: extended resource that pods request, e.g. ``vpc.amazonaws.com/efa``; empty where
            they ask for interfaces.
        network: NetworkAttachmentDefinition of each device, with its namespace unless it is in each
            of the pods; empty where pods need none.
        networks: that a pod has an interface in each of, in their order; a node has one port in
            each. Empty where pods request devices.
    """

    devices: str
    network: str = ""
    networks: tuple[str, ...] = ()

    @property
    def advertised_names(self) -> tuple[str, ...]:
        """Extended resources by which a node advertises its ports."""
        annotations = self.provider.annotations
        if annotations is None:
            return (self.devices,)
        pairs = product(self.networks, annotations.resources)
        return tuple(resource.format(network) for network, resource in pairs)

    @property
    def given(self) -> str:
        """What pods are given, as text: the resource, or the names of the networks."""
        return self.devices or ", ".join(self.networks)

    def counted(self, hardware: Hardware) -> dict[str, int]:
        """Return what queues count of a node, and a node of a cluster has: 0 if it's not stated.

        The requests for interfaces are not part of it: the cloud adds them to the pods.
        """
        return {self.devices: hardware.devices.get(self.devices, 0)} if self.devices else {}

    def requested(self, hardware: Hardware, part: Fraction) -> dict[str, int]:
        """Return what a pod requests that has a part of a node."""
        slot = self.provider.request is Request.SLOT
        whole = {name: 1 if slot else amount for name, amount in self.counted(hardware).items()}
        return {name: max(int(amount * part), 1) for name, amount in whole.items()}

    def ports(self, hardware: Hardware) -> int:
        """Return the ports that a pod of a whole node has; 0 where slots do not tell."""
        if self.provider.request is Request.SLOT:
            return 0
        return len(self.networks) or sum(self.counted(hardware).values())
