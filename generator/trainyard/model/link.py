"""Technologies of a fabric's links: their segments, and their settings of the SR-IOV operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.model.named import by_name

LOSSLESS_QUEUE = "LosslessQueue"
"""What switches and cards of RoCE agree on: Converged Ethernet drops packets under load."""

_FIRMWARE = "NodeFirmware"
"""Settings of firmware and PCIe that no operator of the tree makes: the README lists them."""


@dataclass(frozen=True, slots=True)
class Link:
    """A technology; the templates and names of a fabric follow from it.

    Args:
        segment: what separates teams, in the field's own word.
        field: its key in the allocations.
        ranges: key of the range that a fabric hands out.
        enforced: kind under which a cluster declares who makes the segments real.
        prepared: further kinds under which it declares who has prepared switches, ports and nodes.
        first, last: segments that a team may hold.
        mask: bits that distinguish segments.
        most: segments that a port holds at one time.
        sriov_type: ``linkType`` of a SriovNetworkNodePolicy.
        mtus: sizes that the ports take, smallest and largest; 0 in a fabric leaves the driver's.
        operator_networks: whether the SR-IOV operator writes the NetworkAttachmentDefinition, and
            with its own name.
    """

    name: str
    segment: str
    field: str
    ranges: str
    enforced: str
    prepared: tuple[str, ...]
    first: int
    last: int
    mask: int
    most: int
    sriov_type: str
    mtus: tuple[int, int]
    operator_networks: bool

    @property
    def external(self) -> tuple[str, ...]:
        """Kinds under which a cluster declares the owners of what a fabric of the link needs."""
        return (self.enforced, *self.prepared)

    def display(self, number: int) -> str:
        """Return a segment as people write it: partition keys in hex, VLANs in decimal."""
        return str(self.entry(number))

    def entry(self, number: int) -> str | int:
        """Return a segment as the ledger has it: partition keys are text, VLANs numbers."""
        return f"0x{number:04x}" if self.segment == "partition" else number


INFINIBAND = Link(
    name="infiniband",
    segment="partition",
    field="partition",
    ranges="partitions",
    enforced="Partitions",
    prepared=(_FIRMWARE,),
    # 15 bits; 0x7fff is the default partition, that every port is in, and 0x0000 is none.
    first=0x0001,
    last=0x7FFE,
    # The 16th bit is a port's kind of membership (Mellanox/ib-kubernetes:pkg/utils/utils.go).
    mask=0x7FFF,
    most=128,
    sriov_type="ib",
    mtus=(2044, 4092),
    operator_networks=False,
)
"""Partition keys. SriovIBNetwork has no field for them (sriov-network-operator v1.6.0), so the NAD
is ours."""

ROCE = Link(
    name="roce",
    segment="VLAN",
    field="vlan",
    ranges="vlans",
    enforced="Vlans",
    prepared=(LOSSLESS_QUEUE, _FIRMWARE),
    # 0 is untagged, 1 what switches put untagged frames into, 4095 reserved (IEEE 802.1Q).
    first=2,
    last=4094,
    mask=0xFFF,
    most=4093,
    sriov_type="eth",
    mtus=(1500, 9216),
    operator_networks=True,
)
"""VLANs, set on the VF by the host: a pod can't leave its own."""

LINKS: Mapping[str, Link] = by_name((INFINIBAND, ROCE))
"""By the name in a fabric's profile."""

SYSCTL_ALLOWLIST = "SysctlAllowlist/multus"
"""Owner of the list of sysctls that networks may set, where the platform has one: those of RoCE are
not in OpenShift's own (openshift/cluster-network-operator:bindata/network/multus/
004-sysctl-configmap.yaml)."""
