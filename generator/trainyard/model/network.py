"""A team's attachments to the rails, and the egress rules of its namespaces."""

from __future__ import annotations

import json
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.fabric import RailFabric
from trainyard.model.pool import Pool
from trainyard.model.release import Release
from trainyard.model.team import Allocation


@dataclass(frozen=True, slots=True)
class AddressPool:
    """A team's addresses on one rail, in all of its namespaces.

    Args:
        rails: of the fabric; the team's block is split evenly over them.
        pools: the nodes on the fabric.
    """

    team: str
    fabric: RailFabric
    rail: int
    rails: int
    pools: tuple[Pool, ...]
    allocation: Allocation

    @property
    def name(self) -> str:
        """Name of the pool of addresses."""
        return names.address_pool(self.team, self.fabric.name, self.rail)

    @property
    def addresses(self) -> IPv4Network:
        """This rail's part of the team's block."""
        bits = (self.rails - 1).bit_length()
        block = self.allocation.addresses
        first = int(block.network_address) + self.rail * (block.num_addresses >> bits)
        return IPv4Network((first, block.prefixlen + bits))

    @property
    def subnet(self) -> str:
        """The range, as an IPPool wants it."""
        return str(self.addresses)

    @property
    def per_node(self) -> int:
        """Addresses that every node reserves: one a virtual function, and at least two.

        The operator refuses a block of one
        (Mellanox/nvidia-k8s-ipam:api/v1alpha1/ippool_validate.go@18fc6a0).
        """
        return max(2, *(pool.hardware.virtual_functions for pool in self.pools))


@dataclass(frozen=True, slots=True)
class Network:
    """The attachment of one namespace to one rail, in the team's own partition or VLAN."""

    namespace: str
    addresses: AddressPool
    release: Release

    @property
    def fabric(self) -> RailFabric:
        """The fabric that it attaches to."""
        return self.addresses.fabric

    @property
    def name(self) -> str:
        """Name of the NetworkAttachmentDefinition, whoever writes it."""
        owner = self.namespace if self.fabric.link.operator_networks else ""
        return names.network(self.fabric.name, self.addresses.rail, owner)

    @property
    def segment(self) -> int:
        """The team's partition or VLAN."""
        return self.addresses.allocation.segment

    @property
    def display(self) -> str:
        """The segment as text: as a number YAML readers would make a decimal of a partition key."""
        return self.fabric.link.display(self.segment)


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))


MPI_JOBS, BESIDE_MPI_JOBS = "mpijobs", "workspaces beside mpijobs"
"""Sources of egress rules in a namespace with MPIJobs, from ``jobs`` and ``workspaces``."""


@dataclass(frozen=True, slots=True)
class Egress:
    """An egress rule that the platform declares for the teams' namespaces.

    Args:
        cidrs, namespaces: where to.
        ports: TCP ports at the receiving pod or host.
        source: ``jobs``, `MPI_JOBS`, ``workspaces`` (workbenches and pipelines) or ``all``.
    """

    name: str
    at: Pointer
    cidrs: tuple[str, ...]
    namespaces: tuple[str, ...]
    ports: tuple[int, ...]
    source: str
